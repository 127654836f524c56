import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { type Asked, serve } from "@/testing/server";
import { FilterField } from "./FilterField";

const COMPLETION = { text: "method", title: "Method", kind: "text" };

/** Respond like the server to the start of a name, to an unknown name, and to a valid filter. */
function check({ query }: Asked) {
  const expression = query.get("expression") ?? "";
  const error = (position: number, length: number, message: string) => ({
    error: { position, length, message, suggestions: [] },
    position,
    length,
    completions: [],
  });
  if (expression === "met") return { ...error(0, 3, "no value is named met"), completions: [COMPLETION] };
  if (expression.endsWith(" and ")) return error(expression.length, 0, "expected a name or a number");
  if (expression.includes("metod")) return error(expression.indexOf("metod"), 5, "no value is named metod");
  return { error: null, position: expression.length, length: 0, completions: [] };
}

function show(filter = "") {
  serve({ "GET /run-expression": check });
  const applied: string[] = [];
  function Page() {
    const [current, setCurrent] = useState(filter);
    const change = (next: string) => {
      applied.push(next);
      setCurrent(next);
    };
    return <FilterField filter={current} onFilter={change} />;
  }
  renderPage(<Page />);
  return { applied, field: screen.getByLabelText<HTMLInputElement>("Filter expression") };
}

it("completes the word before the cursor with Tab", async () => {
  const { field } = show();
  await userEvent.type(field, "met");
  expect(await screen.findByRole("option", { name: "method Method" })).toBeTruthy();
  expect(screen.queryByRole("alert"), "the word is not finished").toBeNull();
  await userEvent.tab();
  expect(field.value).toBe("method ");
});

it("says that Enter applies a valid filter, until it is applied", async () => {
  const { field } = show();
  await userEvent.type(field, "return > 3");
  expect(await screen.findByText("Press Enter to apply")).toBeTruthy();
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(screen.queryByText("Press Enter to apply")).toBeNull());
});

it("shows an error in a readable red", async () => {
  show("metod = A3C");
  expect((await screen.findByRole("alert")).style.color).toBe("var(--mantine-color-error)");
});

it("applies a valid filter with Enter after it is checked, and an empty one immediately", async () => {
  const { field, applied } = show();
  await userEvent.type(field, "return > 15{Enter}");
  await waitFor(() => expect(applied).toEqual(["return > 15"]));
  await userEvent.clear(field);
  expect(applied.at(-1)).toBe("");
});

it("applies a corrected filter with Enter", async () => {
  const { field, applied } = show();
  await userEvent.type(field, "metod");
  await screen.findByRole("alert");
  await userEvent.clear(field);
  await userEvent.type(field, "return > 15{Enter}");
  await waitFor(() => expect(applied.at(-1)).toBe("return > 15"));
});

it("does not apply a filter that is changed after Enter", async () => {
  const { field, applied } = show();
  await userEvent.type(field, "return > 15{Enter}0 or metod = PAAC");
  await screen.findByRole("alert");
  expect(applied).toEqual([]);
});

it("marks the wrong part, says what is wrong, and does not apply it", async () => {
  const { field, applied } = show();
  await userEvent.type(field, "é = 1 or metod = PAAC");
  expect((await screen.findByRole("alert")).textContent).toBe("no value is named metod");
  expect(document.querySelector("mark")?.textContent).toBe("metod");
  await userEvent.type(field, "{Enter}");
  expect(applied).toEqual([]);
  expect(field.getAttribute("aria-invalid")).toBe("true");
});

it("marks the last word if something is missing at the end", async () => {
  show("é = 1 and ");
  expect((await screen.findByRole("alert")).textContent).toBe("expected a name or a number");
  expect(document.querySelector("mark")?.textContent).toBe("and ");
});

it("explains a wrong filter of the URL", async () => {
  show("metod = PAAC");
  expect((await screen.findByRole("alert")).textContent).toBe("no value is named metod");
});
