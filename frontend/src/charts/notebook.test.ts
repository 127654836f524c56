import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { notebookLines } from "./FigureMenu";

it("equals the code that tests/backend/figures/test_notebook.py runs", () => {
  const tested = readFileSync("../tests/fixtures/notebook.txt", "utf8");
  expect(notebookLines("http://arcadia.test/api/v1/figures/curves?runs=1%2C2")).toBe(tested);
});
