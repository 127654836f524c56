import { expect, it } from "vitest";
import { runsAt } from "@/api/figures";
import { parseRunNumbers } from "@/api/runNumbers";
import { lackIn, moved, newBlock } from "./draft";
import { titleOf } from "@/charts/figureTitle";

it("names the first incomplete block", () => {
  expect(lackIn([newBlock("text"), newBlock("replay")])).toBe("Block 2 needs a replay.");
  expect(lackIn([newBlock("text")])).toBeNull();
});

it("accepts a partly typed URL", () => {
  for (const half of ["//", "https:", "https://", "?", "/api/v1/figures/curves?runs"]) {
    expect(runsAt(half)).toEqual([]);
    expect(titleOf(half)).toBeTruthy();
  }
  expect(runsAt("https://a.host/api/v1/figures/curves?runs=1,2")).toEqual([1, 2]);
  expect(titleOf("https://a.host/api/v1/studies/4/figure")).toBe("Study 4");
});

it("moves a block", () => {
  expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
  expect(parseRunNumbers("1, 2 x 5,-3")).toEqual([1, 2, 5]);
});

it("names a chart by its URL", () => {
  expect(titleOf("/api/v1/figures/curves?runs=1&metric=train%2Floss")).toBe("train/loss");
  expect(titleOf("/api/v1/papers/a3c/figure-2/figure")).toBe("A3C, figure 2");
  expect(titleOf("/api/v1/studies/4/figure?kind=scatter")).toBe("Study 4");
});
