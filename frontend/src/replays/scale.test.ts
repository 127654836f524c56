import { expect, it } from "vitest";
import { domainOf, line, placeOn, ticksOf } from "./scale";

it("ranges from the smallest to the largest number, without NaN and infinities", () => {
  expect(domainOf([0.5, -2, NaN, 3, Infinity])).toEqual([-2, 3]);
});

it("has a range around a single number, and a default range without numbers", () => {
  expect(domainOf([4, 4])).toEqual([2, 6]);
  expect(domainOf([0])).toEqual([-0.5, 0.5]);
  expect(domainOf([NaN])).toEqual([0, 1]);
});

it("returns positions from 0 to 1, and clamps numbers outside the range", () => {
  expect([-2, 0, 2, 5].map((value) => placeOn([-2, 2], value))).toEqual([0, 0.5, 1, 1]);
});

it.each([
  [[-1.6, 1.4], 4, [-1, 0, 1]],
  [[0, 40], 6, [0, 10, 20, 30, 40]],
  [[0, 0.3], 3, [0, 0.1, 0.2, 0.3]],
  [[2.3, 2.4], 4, [2.3, 2.35, 2.4]],
] as const)("has round ticks within %j", (domain, about, ticks) => {
  expect(ticksOf(domain, about)).toEqual(ticks);
});

it("draws a line with y upwards, and with a gap at NaN", () => {
  expect(
    line([
      [0, 0],
      [0.5, 1],
      [0.6, NaN],
      [1, 0.25],
    ]),
  ).toBe("M0.0 1000.0L500.0 0.0M1000.0 750.0");
});
