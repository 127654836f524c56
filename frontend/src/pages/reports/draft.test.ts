import { expect, it } from "vitest";
import { runsAt } from "@/api/figures";
import { parseRunNumbers } from "@/api/runNumbers";
import { lackIn, moved, newBlock } from "./draft";

it("names the first incomplete block", () => {
  expect(lackIn([newBlock("text"), newBlock("replay")])).toBe("Block 2 needs a replay.");
  expect(lackIn([newBlock("text")])).toBeNull();
});

it("names a chart without runs, unless its figure shows none", () => {
  const chart = (address: string) => lackIn([{ kind: "chart", address, caption: "" }]);
  expect(chart("/api/v1/figures/curves?metric=train/loss")).toBe("Block 1 needs a run.");
  expect(chart("/api/v1/figures/curves?runs=1")).toBeNull();
  expect(chart("/api/v1/figures/evaluation-scores?evaluation=3")).toBeNull();
  expect(chart("/api/v1/studies/4/figure")).toBeNull();
});

it("accepts a partly typed URL", () => {
  for (const half of ["//", "https:", "https://", "?", "/api/v1/figures/curves?runs"])
    expect(runsAt(half)).toEqual([]);
  expect(runsAt("https://a.host/api/v1/figures/curves?runs=1,2")).toEqual([1, 2]);
});

it("moves a block", () => {
  expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
  expect(parseRunNumbers("1, 2 x 5,-3")).toEqual([1, 2, 5]);
});
