import { describe, expect, it } from "vitest";
import { rangeText, readSeries, spaced, writeRange, writeValues } from "./series";
import type { FormField } from "./schema";

const field = (changes: Partial<FormField>): FormField => ({
  name: "learning_rate",
  title: "Learning rate",
  help: "",
  group: "",
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
  it("are written between commas", () => {
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

  it("are words of a choice or a switch", () => {
    const network = field({ name: "network", kind: "choice", choices: ["mlp", "nips", "nature"] });
    expect(readSeries(network, "mlp, nature")).toEqual({ kind: "values", values: ["mlp", "nature"] });
    expect(readSeries(network, "mlp")).toBeNull();
    expect(readSeries(network, "mlp, vgg")).toEqual({ error: "“vgg” is not one of the choices." });
    expect(readSeries(field({ kind: "boolean" }), "off, on")).toEqual({
      kind: "values",
      values: [false, true],
    });
  });

  it("lie at equal distances in a range, which has five without a number", () => {
    expect(readSeries(rate, "log(1e-4, 1e-2)")).toMatchObject({ count: 5 });
    expect(spaced({ kind: "log", bounds: [1e-4, 1e-2], count: 3 }, false)).toEqual([1e-4, 1e-3, 1e-2]);
    expect(spaced({ kind: "uniform", bounds: [1, 4], count: 8 }, true)).toEqual([1, 2, 3, 4]);
  });

  it("are written so that they are read as the same", () => {
    expect(writeValues(seed, [1, 2, 3])).toBe("1-3");
    expect(writeValues(seed, [3, 7])).toBe("3, 7");
    expect(writeValues(rate, [0.00001, 0.5])).toBe("1e-5, 0.5");
    const range = { kind: "log" as const, low: "1e-4", high: "", count: "5" };
    expect(rangeText(writeRange(range))).toEqual(range);
  });

  it("leave one value alone, also with a decimal comma", () => {
    for (const one of ["0.001", "0,001", "1e-3", ""]) expect(readSeries(rate, one)).toBeNull();
    expect(readSeries(field({ kind: "numbers" }), "0.1, 0.2")).toBeNull();
    expect(readSeries(seed, "7")).toBeNull();
  });

  it.each([
    [rate, "1e-4, fast", "fast: Not a number"],
    [rate, "1e-4, 3", "3: Must be"],
    [rate, "1e-4, 1e-4", "each value once"],
    [rate, "log(1e-4, 1e-2) x 1", "Give 2 to 1000 values"],
    [rate, "log(1e-4, )", "A range needs two ends"],
    [rate, "log(1e-2, 1e-4) x 5", "not below"],
    [rate, "log(0, 1) x 5", "0: Must be"],
    [seed, "5-1", "no range"],
    [seed, "uniform(1, 5) x 3", "Seeds are a list"],
  ])("tell what is wrong: %#", (of, text, told) => {
    const found = readSeries(of, text);
    expect(found && "error" in found ? found.error : found).toContain(told);
  });
});
