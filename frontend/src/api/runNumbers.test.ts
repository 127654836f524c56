import { expect, it } from "vitest";
import { parseRunNumbers, writeRunNumbers } from "./runNumbers";

it("reads numbers and ranges, each number once", () => {
  expect(parseRunNumbers("3, 7-9 8,12")).toEqual([3, 7, 8, 9, 12]);
  expect(parseRunNumbers("1–2")).toEqual([1, 2]);
});

it("ignores words that are not run numbers", () => {
  expect(parseRunNumbers("x, -3, 0, 9-7, 1-, 1-1000000, 2.5")).toEqual([]);
  expect(parseRunNumbers("")).toEqual([]);
});

it("writes numbers in order, with ranges", () => {
  expect(writeRunNumbers([5, 6, 7, 9, 10, 3, 2])).toBe("5-7,9,10,3,2");
  expect(writeRunNumbers([])).toBe("");
  const many = Array.from({ length: 2500 }, (_, at) => at + 1);
  expect(parseRunNumbers(writeRunNumbers(many))).toEqual(many);
});
