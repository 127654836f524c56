import { describe, expect, it } from "vitest";
import { parseNumber, writeNumber } from "./numbers";

describe("parseNumber", () => {
  it.each([
    ["1e-3", 0.001],
    ["10M", 10_000_000],
    ["10 M", 10_000_000],
    ["115_000_000", 115_000_000],
    ["115,000,000", 115_000_000],
    ["115 000 000", 115_000_000],
    ["2.5k", 2500],
    ["1.2b", 1_200_000_000],
    [".5", 0.5],
    ["-3", -3],
    ["−3", -3],
    ["+1E6", 1_000_000],
    ["0.0007e3", 0.7],
    ["1e2k", 100_000],
  ])("reads %s", (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });

  it.each(["", "ten", "1,5", "10MM", "0x10", "1e", "1e999", "NaN", "Infinity", "--1", "1.2.3"])(
    "refuses %j",
    (text) => {
      expect(parseNumber(text)).toBeNull();
    },
  );
});

describe("writeNumber", () => {
  it.each([
    [115_000_000, "115_000_000"],
    [9999, "9999"],
    [0.0224, "0.0224"],
    [0.00001, "1e-5"],
    [0, "0"],
    [-20_000, "-20_000"],
    [0.99, "0.99"],
  ])("writes %d as %s", (value, text) => {
    expect(writeNumber(value)).toBe(text);
  });

  it.each([0.1 + 0.2, 1e-9, 123_456.789, 2 ** 31 - 1, 1e21, -7e-12])(
    "writes %d so that it reads back the same",
    (value) => {
      expect(parseNumber(writeNumber(value))).toBe(value);
    },
  );
});
