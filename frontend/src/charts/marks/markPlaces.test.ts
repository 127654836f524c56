import { describe, expect, it } from "vitest";
import type { Mark } from "@/api/types";
import { aMark } from "@/testing/marks";
import { clusters, marksOf } from "./markPlaces";

const AREA = { left: 50, width: 1000, from: 0, to: 1000, log: false };
const places = (marks: Mark[], area = AREA) =>
  clusters(marks, "step", area).map(({ left, marks }) => [left, marks.length]);

describe("the places of marks", () => {
  it("correspond to their steps, and close marks share one", () => {
    expect(places([aMark({ step: 500 }), aMark({ step: 100 }), aMark({ step: 109 })])).toEqual([
      [150, 2],
      [550, 1],
    ]);
  });

  it("leave out what is outside of a zoom", () => {
    const area = { ...AREA, from: 400, to: 600 };
    expect(places([aMark({ step: 100 }), aMark({ step: 500 }), aMark({ step: 610 })], area)).toEqual([
      [550, 1],
    ]);
    expect(places([aMark({ step: 603 })], area)).toEqual([[1050, 1]]);
  });

  it("follow a log axis", () => {
    expect(places([aMark({ step: 100 }), aMark({ step: 0 })], { ...AREA, to: 4, log: true })).toEqual([
      [550, 1],
    ]);
  });

  it("follow each axis", () => {
    const mark = aMark({ step: 10, frames: 4_000_000, seconds: 60 });
    const left = (axis: "step" | "frames" | "epoch" | "time", to: number) =>
      clusters([mark], axis, { ...AREA, to })[0]?.left;
    expect(left("step", 100)).toBe(150);
    expect(left("frames", 8_000_000)).toBe(550);
    expect(left("epoch", 2)).toBe(550);
    expect(left("time", 120)).toBe(550);
    expect(clusters([aMark({ seconds: null })], "time", AREA)).toEqual([]);
  });
});

describe("the marks of a chart", () => {
  const checkpoint = aMark();
  const anomaly = aMark({ kind: "anomaly", rule: "entropy_collapsed", metric: "train/entropy" });
  const all = [checkpoint, anomaly];

  it("are all on the main chart, and anomalies on that of their metric", () => {
    expect(marksOf(all, ["episode/return"], { isMain: true, hidden: [] })).toEqual(all);
    expect(marksOf(all, ["train/entropy"], { isMain: false, hidden: [] })).toEqual([anomaly]);
    expect(marksOf(all, ["train/value_loss"], { isMain: false, hidden: [] })).toEqual([]);
  });

  it("leave out hidden kinds and rules", () => {
    const shown = (hidden: string[]) => marksOf(all, ["episode/return"], { isMain: true, hidden });
    expect(shown(["checkpoint"])).toEqual([anomaly]);
    expect(shown(["entropy_collapsed"])).toEqual([checkpoint]);
  });
});
