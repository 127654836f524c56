import { describe, expect, it } from "vitest";
import { parseRange, readSeries, evenlySpaced, formatRange, formatValues } from "./series";
import type { FormField } from "./schema";

const field = (changes: Partial<FormField>): FormField => ({
  name: "learning_rate",
  title: "Learning rate",
  help: "",
  group: "",
  changeable: "",
  isEssential: false,
  kind: "number",
  optional: false,
  initial: 0.001,
  choices: [],
  range: { above: 0, max: 1 },
  count: {},
  ...changes,
});
const rate = field({});
const seed = field({ name: "seed", kind: "integer", range: { min: 0 } });

describe("several values in a field", () => {
  it("are separated by commas", () => {
    expect(readSeries(rate, "1e-4, 3e-4, 1e-3")).toEqual({ kind: "values", values: [1e-4, 3e-4, 1e-3] });
    expect(readSeries(seed, "1-3, 7")).toEqual({ kind: "values", values: [1, 2, 3, 7] });
    expect(readSeries(seed, "1-5")).toEqual({ kind: "values", values: [1, 2, 3, 4, 5] });
  });

  it("are drawn from a range", () => {
    expect(readSeries(rate, "log(1e-4, 1e-2) x 50")).toEqual({
      kind: "log",
      bounds: [1e-4, 1e-2],
      count: 50,
    });
    expect(readSeries(rate, "uniform(0.1,0.9) x 8")).toEqual({
      kind: "uniform",
      bounds: [0.1, 0.9],
      count: 8,
    });
  });

  it("can be choices or switch values", () => {
    const network = field({ name: "network", kind: "choice", choices: ["mlp", "nips", "nature"] });
    expect(readSeries(network, "mlp, nature")).toEqual({ kind: "values", values: ["mlp", "nature"] });
    expect(readSeries(network, "mlp")).toBeNull();
    expect(readSeries(network, "mlp, vgg")).toEqual({ error: "“vgg” is not a valid choice." });
    expect(readSeries(field({ kind: "boolean" }), "off, on")).toEqual({
      kind: "values",
      values: [false, true],
    });
  });

  it("are evenly spaced in a range, with five by default", () => {
    expect(readSeries(rate, "log(1e-4, 1e-2)")).toMatchObject({ count: 5 });
    expect(evenlySpaced({ kind: "log", bounds: [1e-4, 1e-2], count: 3 }, false)).toEqual([1e-4, 1e-3, 1e-2]);
    expect(evenlySpaced({ kind: "uniform", bounds: [1, 4], count: 8 }, true)).toEqual([1, 2, 3, 4]);
  });

  it("are formatted so that they read back the same", () => {
    expect(formatValues(seed, [1, 2, 3])).toBe("1-3");
    expect(formatValues(seed, [3, 7])).toBe("3, 7");
    expect(formatValues(rate, [0.00001, 0.5])).toBe("1e-5, 0.5");
    const range = { kind: "log" as const, low: "1e-4", high: "", count: "5" };
    expect(parseRange(formatRange(range))).toEqual(range);
  });

  it("are not read from one value with a decimal comma", () => {
    for (const one of ["0.001", "0,001", "1e-3", ""]) expect(readSeries(rate, one)).toBeNull();
    expect(readSeries(field({ kind: "numbers" }), "0.1, 0.2")).toBeNull();
    expect(readSeries(seed, "7")).toBeNull();
  });

  it.each([
    [rate, "1e-4, fast", "fast: Not a number"],
    [rate, "1e-4, 3", "3: Must be"],
    [rate, "1e-4, 1e-4", "each value once"],
    [rate, "log(1e-4, 1e-2) x 1", "Enter 2 to 1000 values"],
    [rate, "log(1e-4, )", "Enter both ends of the range"],
    [rate, "log(1e-2, 1e-4) x 5", "must be less than"],
    [rate, "log(0, 1) x 5", "0: Must be"],
    [seed, "5-1", "not a range"],
    [seed, "uniform(1, 5) x 3", "Enter seeds as a list"],
  ])("report errors: %#", (of, text, expected) => {
    const found = readSeries(of, text);
    expect(found && "error" in found ? found.error : found).toContain(expected);
  });
});
