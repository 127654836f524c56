import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Markdown } from "./Markdown";

const shown = (text: string) =>
  render(
    <MantineProvider env="test">
      <Markdown>{text}</Markdown>
    </MantineProvider>,
  ).container;

/** What tests/backend/reports/test_reports.py tests too. */
const cases = JSON.parse(readFileSync("../tests/fixtures/markdown.json", "utf8")) as {
  name: string;
  markdown: string;
  html: string;
}[];

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot" }[sign]};`);

/** The elements that mean something, without Mantine's classes and boxes. */
function plain(node: Node): string {
  if (!(node instanceof Element)) return escaped(node.textContent ?? "");
  const inner = [...node.childNodes].map(plain).join("");
  const tag = node.tagName.toLowerCase();
  if (tag === "style") return "";
  if (tag === "div" || tag === "span") return inner;
  if (tag === "pre") return `<pre><code>${inner}</code></pre>`;
  if (tag === "a")
    return `<a href="${escaped(node.getAttribute("href") ?? "")}" rel="noreferrer">${inner}</a>`;
  return `<${tag}>${inner}</${tag}>`;
}

describe("Markdown", () => {
  it.each(cases)("shows what an exported report shows: $name", ({ markdown, html }) => {
    const blocks = [...shown(markdown).children].filter(({ tagName }) => tagName !== "STYLE");
    expect(blocks.map(plain).join("\n")).toBe(html);
  });

  it("shows bold, italic, code and links", () => {
    const page = shown(
      "Which is **best**, *really*? See `lr` and [the paper](https://arxiv.org/abs/1602.01783).",
    );
    expect(page.querySelector("strong")?.textContent).toBe("best");
    expect(page.querySelector("em")?.textContent).toBe("really");
    expect(page.querySelector("code")?.textContent).toBe("lr");
    expect(page.querySelector("a")?.getAttribute("href")).toBe("https://arxiv.org/abs/1602.01783");
  });

  it("shows paragraphs and lists", () => {
    const page = shown("First.\n\nSecond.\n\n- one\n- two");
    expect([...page.querySelectorAll("p")].map(({ textContent }) => textContent)).toEqual([
      "First.",
      "Second.",
    ]);
    expect([...page.querySelectorAll("li")].map(({ textContent }) => textContent)).toEqual(["one", "two"]);
  });

  it("leaves HTML and other schemes text", () => {
    const page = shown('<b onclick="x()">a</b> [x](javascript:alert(1))');
    expect(page.querySelector("b")).toBeNull();
    expect(page.querySelector("a")).toBeNull();
    expect(page.textContent).toContain("[x](javascript:alert(1))");
  });
});
