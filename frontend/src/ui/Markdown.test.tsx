import { screen, waitFor } from "@testing-library/react";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { Markdown } from "./Markdown";
import { toHtml } from "./markdownHtml";

const fixture = (name: string) =>
  JSON.parse(readFileSync(`../tests/fixtures/${name}.json`, "utf8")) as unknown;

/** tests/backend/reports/test_markdown.py tests exported reports with the same files. */
const texts = fixture("markdown") as { name: string; markdown: string; html: string }[];
const formulas = fixture("formulas") as { latex: string; display: boolean; shape: string | null }[];

const html = (markdown: string) =>
  toHtml(markdown, { imageSource: (file) => `/api/v1/files/${file}`, typeset: null });

const WRAPPERS = ["math", "mrow", "mstyle", "mpadded", "semantics", "mtd"];

/** Return the elements and symbols of a formula, without spaces and attributes. */
function shapeOf(element: Element): string {
  const tag = element.tagName.toLowerCase();
  if (tag === "mspace") return "";
  const parts = [...element.children].map(shapeOf).filter((part) => part !== "");
  if (WRAPPERS.includes(tag)) return parts.join(" ");
  return element.children.length === 0
    ? element.textContent.replace(/[\s\u2061-\u2064]/g, "")
    : `${tag}(${parts.join(", ")})`;
}

/** Elements that could run a script or load a file. */
const active = (page: Element) =>
  [...page.querySelectorAll("*")].filter(
    (element) =>
      ["SCRIPT", "IFRAME", "OBJECT", "LINK", "STYLE"].includes(element.tagName) ||
      element.getAttributeNames().some((name) => name.startsWith("on")) ||
      /^\s*(javascript|vbscript|data:text)/i.test(element.getAttribute("href") ?? "") ||
      /^https?:/i.test(element.getAttribute("src") ?? ""),
  );

describe("Markdown", () => {
  it.each(texts)("renders the same as an exported report: $name", ({ markdown, html: exported }) => {
    expect(html(markdown)).toBe(exported);
  });

  it.each(formulas)(
    "renders the same formula as an exported report: $latex",
    async ({ latex, display, shape }) => {
      const mark = display ? "$$" : "$";
      renderPage(<Markdown>{`before ${mark}${latex}${mark}\n\n$$loaded$$`}</Markdown>);
      await waitFor(() => expect(document.querySelector("p.formula math")?.textContent).toBe("loaded"));
      const formula = document.querySelector("p:not(.formula) math");
      expect(formula && shapeOf(formula)).toBe(shape);
      expect(formula?.getAttribute("display") === "block").toBe(shape !== null && display);
      if (shape === null) expect(document.querySelector("code")?.textContent).toBe(mark + latex + mark);
    },
  );

  it("shows a formula between lines of $$ as a block", async () => {
    renderPage(<Markdown>{"Text\n$$\na\n- b\n$$\nmore"}</Markdown>);
    expect(screen.getByText("$$a - b$$")).toBeTruthy();
    await waitFor(() => expect(document.querySelector("p.formula math")?.textContent).toBe("a−b"));
  });

  it.each(texts)("contains nothing that runs or loads: $name", ({ markdown }) => {
    const page = document.createElement("div");
    page.innerHTML = html(markdown);
    expect(active(page)).toEqual([]);
  });

  it.each([
    ["quotes", ">".repeat(20_000)],
    ["lists", "- ".repeat(10_000)],
    ["brackets", "[".repeat(20_000)],
    ["images", "![".repeat(10_000)],
    ["stars", "*a **b ".repeat(2_500)],
    ["dollars", "$a".repeat(10_000)],
    ["double dollars", "$$ x\n".repeat(4_000)],
    ["cells", `${"|a".repeat(4_000)}|\n${"|-".repeat(4_000)}|\n${"|1\n".repeat(1_000)}`],
  ])("renders a text of many %s in reasonable time", (_, markdown) => {
    expect(html(markdown).length).toBeLessThan(2_000_000);
  });
});
