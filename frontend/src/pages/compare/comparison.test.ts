import { describe, expect, it } from "vitest";
import type { ComparedRun, Comparison, Run } from "@/api/types";
import { aReportedRun, aRun } from "@/testing/runs";
import {
  haveEpisodes,
  readMetrics,
  readRuns,
  sortedRows,
  type SortKey,
  summaryCells,
  summaryRows,
  writeMetrics,
  writeRuns,
} from "./comparison";

const query = (text: string) => new URLSearchParams(text);

describe("the URL", () => {
  it("names each run once and in order, and ignores invalid parts", () => {
    expect(readRuns(query("runs=3, 1,3,x,-2,0,,2"))).toEqual([3, 1, 2]);
    expect(readRuns(query(""))).toEqual([]);
    expect(readRuns(query("runs=1,7-9"))).toEqual([1, 7, 8, 9]);
  });

  it("keeps other parameters when runs change", () => {
    expect(writeRuns(query("x=frames&runs=1"), [2, 5]).toString()).toBe("x=frames&runs=2%2C5");
    expect(writeRuns(query("runs=1&x=frames"), []).toString()).toBe("x=frames");
  });

  it("uses the return as the default metric", () => {
    expect(readMetrics(query(""))).toEqual(["episode/return"]);
    expect(readMetrics(query("metric=train/entropy,episode/return,train/entropy"))).toEqual([
      "train/entropy",
      "episode/return",
    ]);
    expect(readMetrics(query(""), ["a", "episode/return"])).toEqual(["episode/return"]);
    expect(readMetrics(query(""), ["a", "b"])).toEqual(["a"]);
    expect(writeMetrics(query("metric=a"), ["episode/return"]).toString()).toBe("");
    expect(readMetrics(writeMetrics(query(""), ["a/b", "c, d"]))).toEqual(["a/b", "c, d"]);
  });
});

const run = (id: number, name: string) =>
  ({ id, name, label: name, state: "finished", episodes: 7 }) as ComparedRun;
const values = (last: number | "NaN" | "Infinity", max: number) => ({
  "episode/return": { last, max, mean_last_100: 1 },
});
const comparison: Comparison = {
  runs: [run(1, "run 10"), run(2, "run 9"), run(3, "run 1"), run(4, "none")],
  differences: [],
  provenance: [],
  groups: [],
  summary: [
    { run_id: 1, metrics: values(5, 9), episodes: 3, wall_seconds: 60 },
    { run_id: 2, metrics: values("NaN", 2), episodes: 4, wall_seconds: 30 },
    { run_id: 3, metrics: values("Infinity", 4), episodes: 5, wall_seconds: 90 },
  ],
};

it("expects episodes of runs that Arcadia trains, and of scripts that have logged some", () => {
  const compared = (...runs: Run[]) =>
    haveEpisodes({ runs: runs.map((run) => ({ ...run, label: "", dash: "solid" as const })) });
  expect(compared(aReportedRun({ episodes: 0 }))).toBe(false);
  expect(compared(aReportedRun({ episodes: 3 }))).toBe(true);
  expect(compared(aReportedRun({ episodes: 0 }), aRun({ episodes: 0 }))).toBe(true);
});

describe("the summary", () => {
  const rows = summaryRows(comparison, "episode/return");
  const order = (key: SortKey, descending: boolean) =>
    sortedRows(rows, { key, descending }).map((row) => row.run.id);

  it("has a row for each run, even without points", () => {
    expect(rows.map((row) => [row.run.id, row.max, row.episodes])).toEqual([
      [1, 9, 3],
      [2, 2, 4],
      [3, 4, 5],
      [4, null, 7],
    ]);
  });

  it("sorts in both directions with missing values last", () => {
    expect(order("last", true)).toEqual([3, 1, 2, 4]);
    expect(order("last", false)).toEqual([1, 3, 2, 4]);
    expect(order("max", false)).toEqual([2, 3, 1, 4]);
  });

  it("sorts numbers in names by value", () => {
    expect(order("name", false)).toEqual([4, 3, 2, 1]);
  });

  it("exports all metrics of all runs", () => {
    expect(summaryCells(comparison)[1]).toEqual([
      2,
      "run 9",
      "finished",
      "episode/return",
      "NaN",
      2,
      1,
      4,
      30,
    ]);
  });
});
