import { describe, expect, it } from "vitest";
import { aFuturesDocument } from "@/testing/futures";
import { binsOf, drawReturns, drawScores, drawSurvival } from "./figures";

describe("bins", () => {
  it("have round borders and count every value", () => {
    const values = [-1, -0.31, 0, 0.3, 0.99, 1];
    const bins = binsOf(values);
    expect(bins.width).toBe(0.1);
    expect(bins.centers[0]).toBe(-0.95);
    const counts = bins.countOf(values);
    expect(counts).toHaveLength(bins.centers.length);
    expect(counts.reduce((sum, count) => sum + count)).toBe(6);
    expect(counts.at(-1)).toBe(1);
  });

  it("cover equal values, and leave out infinite ones", () => {
    const values = [2, 2, Infinity];
    const counts = binsOf(values).countOf(values);
    expect(counts.reduce((sum, count) => sum + count)).toBe(2);
  });
});

describe("the histogram of returns", () => {
  it("separates returns that ended from bootstrapped ones and marks V and the mean", () => {
    const { data } = drawReturns(aFuturesDocument());
    expect(data.map(({ name }) => name)).toEqual(["Ended: 4", "Bootstrapped: 4", "V", "Mean"]);
  });

  it("draws the returns of other futures as a line in the same bins", () => {
    const other = { name: "Run 3", of: aFuturesDocument() };
    const { data } = drawReturns(aFuturesDocument(), other);
    const line = data.find(({ name }) => name === "Run 3");
    expect(line).toMatchObject({ mode: "lines", x: data[0]?.["x"] });
    expect((line?.["y"] as number[]).reduce((sum, count) => sum + count)).toBe(8);
  });

  it("omits an empty kind and numbers that cannot be drawn", () => {
    const [first] = aFuturesDocument().futures;
    const document = aFuturesDocument({
      futures: first ? [first] : [],
      value: NaN,
      mean: null,
      interval: null,
    });
    const { data, layout } = drawReturns(document);
    expect(data.map(({ name }) => name)).toEqual(["Bootstrapped: 1"]);
    expect(layout["shapes"]).toEqual([]);
  });
});

it("draws the quantiles of the score as bands around the median", () => {
  const { data } = drawScores([
    [0, 1, 2, 3, 4],
    [0, 2, 4, 6, 8],
  ]);
  expect(data.map(({ name, y }) => [name, y])).toEqual([
    [undefined, [0, 0]],
    ["90 % of futures", [4, 8]],
    [undefined, [1, 2]],
    ["50 %", [3, 6]],
    ["Median", [2, 4]],
  ]);
});

it("starts the share without a lost life at one", () => {
  expect(drawSurvival([1, 0.5]).data[0]).toMatchObject({ x: [0, 1, 2], y: [1, 1, 0.5] });
});
