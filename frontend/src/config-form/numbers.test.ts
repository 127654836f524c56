import { describe, expect, it } from "vitest";
import { isAmbiguous, parseNumber, formatNumber } from "./numbers";

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
    ["0,003", 0.003],
    ["1,5", 1.5],
    [",5", 0.5],
    ["-0,25", -0.25],
    ["2,5e-4", 0.000_25],
    ["2,5k", 2500],
    ["1234,567", 1234.567],
    ["1,500.25", 1500.25],
  ])("reads %s", (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });

  it.each([
    "",
    "ten",
    "1,5,3",
    "1.500,25",
    "0,003,000",
    "1,",
    "10MM",
    "0x10",
    "1e",
    "1e999",
    "NaN",
    "Infinity",
    "--1",
    "1.2.3",
  ])("rejects %j", (text) => {
    expect(parseNumber(text)).toBeNull();
  });
});

describe("isAmbiguous", () => {
  it.each(["1,500", "-1,500", "10,000", "1,500k", "1,500e-3"])(
    "is true for %s if decimals are allowed",
    (text) => {
      expect(isAmbiguous(text, false)).toBe(true);
    },
  );

  it.each(["0,003", "1,5", "1234,567", "115,000,000", "1,500.5", "1.500", "1500"])(
    "is false for %s",
    (text) => {
      expect(isAmbiguous(text, false)).toBe(false);
    },
  );

  it("is true for a whole number only before a suffix or an exponent", () => {
    expect(["10,000", "1,500k", "1,500e3"].map((text) => isAmbiguous(text, true))).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("formatNumber", () => {
  it.each([
    [115_000_000, "115_000_000"],
    [9999, "9999"],
    [0.0224, "0.0224"],
    [0.0005, "0.0005"],
    [0.0001, "0.0001"],
    [0.00001, "1e-5"],
    [0, "0"],
    [-20_000, "-20_000"],
    [0.99, "0.99"],
  ])("formats %d as %s", (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });

  it.each([0.1 + 0.2, 1e-9, 123_456.789, 2 ** 31 - 1, 1e21, -7e-12])(
    "formats %d so that it reads back the same",
    (value) => {
      expect(parseNumber(formatNumber(value))).toBe(value);
    },
  );
});
