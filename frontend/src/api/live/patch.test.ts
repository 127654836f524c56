import { describe, expect, it } from "vitest";
import { applyPatch } from "./patch";

const before = {
  total: 2,
  items: [
    { id: 1, step: 5, tags: ["a"] },
    { id: 2, step: 7, tags: [] },
  ],
  trace: { x: [1, 2, 3], y: [4, 5, 6] },
};

describe("a patch", () => {
  it("sets and deletes values, and replaces items of lists", () => {
    const after = applyPatch(before, [
      ["set", ["items", 1, "step"], 8],
      ["delete", ["total"]],
      ["splice", ["trace", "x"], 2, 1, [30, 40]],
      ["splice", ["items"], 0, 1, []],
      ["set", ["trace", "name"], "Run 1"],
    ]);
    expect(after).toEqual({
      items: [{ id: 2, step: 8, tags: [] }],
      trace: { x: [1, 2, 30, 40], y: [4, 5, 6], name: "Run 1" },
    });
  });

  it("keeps the identity of parts without a change, and the document before it", () => {
    const copy = structuredClone(before);
    const after = applyPatch(before, [["set", ["items", 1, "step"], 8]]) as typeof before;
    expect(before).toEqual(copy);
    expect(after.items[0]).toBe(before.items[0]);
    expect(after.trace).toBe(before.trace);
    expect(after.items[1]?.tags).toBe(before.items[1]?.tags);
  });

  it("replaces a whole document, and changes a document that is a list", () => {
    expect(applyPatch(before, [["set", [], [1]]])).toEqual([1]);
    expect(applyPatch([1, 2], [["splice", [], 0, 1, [3, 4]]])).toEqual([3, 4, 2]);
  });
});
