import { expect, it } from "vitest";
import { coarser, rangeOf, spread } from "./mediaData";

it("spreads items evenly with the first and the last", () => {
  expect(spread([1, 2, 3], 5)).toEqual([1, 2, 3]);
  expect(spread([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)).toEqual([0, 4, 8]);
});

it("returns a range that an axis can be drawn for", () => {
  const histogram = (...edges: number[]) => ({ edges, counts: [] });
  expect(rangeOf([histogram(0, 1), histogram(-2, 0.5)])).toEqual([-2, 1]);
  expect(rangeOf([histogram(3, 3)])).toEqual([2.5, 3.5]);
});

it("merges bins without losing a value", () => {
  const histogram = { edges: [0, 1, 2, 3, 4, 5], counts: [1, 2, 3, 4, 5] };
  expect(coarser(histogram, 5)).toEqual(histogram);
  expect(coarser(histogram, 2)).toEqual({ edges: [0, 3, 5], counts: [6, 9] });
});
