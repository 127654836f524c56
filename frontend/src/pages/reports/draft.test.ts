import { expect, it } from "vitest";
import { runsAt } from "@/api/reports";
import { parseRunNumbers } from "@/api/runNumbers";
import { lackIn, moved, newBlock } from "./draft";
import { titleOf } from "./figures";

it("tells the first block that lacks something", () => {
  expect(lackIn([newBlock("text"), newBlock("replay")])).toBe("Block 2 lacks its replay.");
  expect(lackIn([newBlock("text")])).toBeNull();
});

it("is not upset by an address that is half typed", () => {
  for (const half of ["//", "https:", "https://", "?", "/api/v1/figures/curves?runs"]) {
    expect(runsAt(half)).toEqual([]);
    expect(titleOf(half)).toBeTruthy();
  }
  expect(runsAt("https://a.host/api/v1/figures/curves?runs=1,2")).toEqual([1, 2]);
  expect(titleOf("https://a.host/api/v1/studies/4/figure")).toBe("Study 4");
});

it("moves a block and reads numbers", () => {
  expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
  expect(parseRunNumbers("1, 2 x 5,-3")).toEqual([1, 2, 5]);
});

it("names a chart by its address", () => {
  expect(titleOf("/api/v1/figures/curves?runs=1&metric=train%2Floss")).toBe("train/loss");
  expect(titleOf("/api/v1/papers/a3c/figure-2/figure")).toBe("A3C, figure 2");
  expect(titleOf("/api/v1/studies/4/figure?kind=scatter")).toBe("Study 4");
});
