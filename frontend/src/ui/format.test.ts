import type { MetricValue } from "@/api/types";
import { describe, expect, it } from "vitest";
import {
  ago,
  bytes,
  duration,
  exact,
  formatInterval,
  measured,
  nearestPercent,
  percent,
  plural,
  rate,
  score,
  short,
} from "./format";

describe("short", () => {
  it.each([
    [0, "0"],
    [950, "950"],
    [1200, "1.2 k"],
    [999_499, "999 k"],
    [999_500, "1 M"],
    [1_234_567, "1.2 M"],
    [115_000_000, "115 M"],
    [-2500, "−2.5 k"],
    [0.25, "0.25"],
  ])("%d reads %s", (value, text) => expect(short(value)).toBe(text));

  it("adds the unit", () => expect(short(1_200_000, "steps")).toBe("1.2 M steps"));
  it("shows a dash for an unknown number", () => {
    expect(short(null)).toBe("–");
    expect(short(NaN)).toBe("–");
  });
});

describe("exact", () => {
  it("keeps and groups all digits", () =>
    expect(exact(1_234_567, "steps")).toBe("1\u202f234\u202f567 steps"));
  it.each([
    [3.2e-7, "0.00000032"],
    [0.000_123_456, "0.000123456"],
    [-20.4375, "−20.4375"],
    [0.1 + 0.2, "0.3"],
    [0, "0"],
  ])("keeps the digits of %d", (value, text) => expect(exact(value)).toBe(text));
  it("shows that a number is unknown", () => expect(exact(null)).toBe("not known"));
});

describe("rate", () => {
  it.each([
    [4123, "4.1 k/s"],
    [87.6, "88 /s"],
    [0.5, "0.5 /s"],
    [null, "–"],
  ])("%s reads %s", (value, text) => expect(rate(value)).toBe(text));
});

describe("an interval", () => {
  it.each([
    [[36, 68.2], "36 to 68"],
    [[0.554, 0.67], "0.55 to 0.67"],
    [[38, 42], "38 to 42"],
    [[-1.5, -0.25], "−1.5 to −0.3"],
    [[120_000, 180_400], "120 k to 180 k"],
    [[120_010, 120_040], "120.010 k to 120.040 k"],
    [[99_000.5, 120_000.5], "99 k to 120 k"],
    [[-0.04, 3.2], "−0.04 to 3.2"],
    [[0.3, 25.4], "0.3 to 25"],
    [[2.5, 2.5], "2.5 to 2.5"],
    [["-Infinity", 3], "−∞ to 3"],
  ] as const)("%j reads %s", (ends, text) => expect(formatInterval(ends)).toBe(text));
});

describe("score", () => {
  it.each([
    [21, "21"],
    [-20.44, "−20.4"],
    [475.3, "475"],
    [0.0013, "0.0013"],
    [0.00012, "1.2e−4"],
    [123_456, "123 k"],
    ["NaN", "NaN"],
    ["-Infinity", "−∞"],
    [null, "–"],
  ] as const)("%s reads %s", (value, text) => expect(score(value)).toBe(text));
});

describe("duration", () => {
  it.each([
    [0, "0 s"],
    [0.2, "< 1 s"],
    [45, "45 s"],
    [60, "1 min"],
    [11_520, "3 h 12 min"],
    [3600, "1 h"],
    [90_000, "1 d 1 h"],
    [59.7, "1 min"],
    [null, "–"],
  ])("%s s reads %s", (seconds, text) => expect(duration(seconds)).toBe(text));
});

describe("ago", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  it.each([
    ["2026-01-01T11:59:58Z", "just now"],
    ["2026-01-01T11:59:30Z", "30 s ago"],
    ["2026-01-01T11:55:00Z", "5 min ago"],
    ["2025-12-29T11:00:00Z", "3 d ago"],
    ["2026-01-01T12:00:05Z", "just now"],
    [null, "–"],
  ])("%s reads %s", (time, text) => expect(ago(time, now)).toBe(text));
});

describe("percent", () => {
  it("never shows 100 before the end", () => expect(percent(0.9999)).toBe("99 %"));
  it.each([
    [0.29, "29 %"],
    [0.57, "57 %"],
    [0.58, "58 %"],
  ])("reads %d as %s", (share, text) => expect(percent(share)).toBe(text));
  it("shows 100 at the end", () => expect(percent(1)).toBe("100 %"));
  it("shows at least a little progress after the start", () => expect(percent(0.001)).toBe("< 1 %"));
});

describe("the nearest percent", () => {
  it.each([
    [8 / 9, "89 %"],
    [0.29, "29 %"],
    [0, "0 %"],
    [0.004, "< 1 %"],
    [0.996, "> 99 %"],
    [1, "100 %"],
    [1.04, "104 %"],
  ])("of %d reads %s", (share, text) => expect(nearestPercent(share)).toBe(text));
});

it("uses powers of 1024 for sizes", () => {
  expect(bytes(16 * 2 ** 30)).toBe("16 GiB");
  expect(bytes(1536)).toBe("1.5 KiB");
});

it.each<[MetricValue | null, string, string]>([
  [681_574_400, "bytes", "650 MiB"],
  [1.2 * 2 ** 30, "bytes/s", "1.2 GiB/s"],
  ["NaN", "bytes", "NaN"],
  [null, "bytes", "–"],
  [650, "updates", "650"],
])("writes %s, counted in %s, as %s", (value, unit, text) => expect(measured(value, unit)).toBe(text));

it("adds the plural", () => {
  expect(plural(1, "run")).toBe("1 run");
  expect(plural(3, "match", "matches")).toBe("3 matches");
});
