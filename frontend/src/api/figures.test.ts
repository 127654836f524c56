import { describe, expect, it } from "vitest";
import { mergeFigure } from "./figures";

const held = {
  data: [
    { uid: "a", name: "Run 1", x: [1, 2, 3], y: [10, 20, 30], line: { color: "#123456" } },
    { uid: "b", name: "Run 2", x: [1], y: [5] },
  ],
  layout: { title: "old" },
  cursor: "first",
  complete: true,
};

describe("mergeFigure", () => {
  it("keeps the final points of each line and appends the new ones", () => {
    const answer = {
      data: [
        { uid: "b", keep: 1, x: [2], y: [6] },
        { uid: "a", keep: 2, x: [4, 5], y: [40, 50] },
      ],
      layout: { title: "new" },
      cursor: "second",
      complete: false,
    };
    expect(mergeFigure(held, answer)).toEqual({
      data: [
        { uid: "b", name: "Run 2", x: [1, 2], y: [5, 6] },
        { uid: "a", name: "Run 1", x: [1, 2, 4, 5], y: [10, 20, 40, 50], line: { color: "#123456" } },
      ],
      layout: { title: "new" },
      cursor: "second",
      complete: true,
    });
    expect(held.data[0]?.x).toEqual([1, 2, 3]);
  });

  it("replaces the figure if the response is complete", () => {
    const answer = { ...held, data: [{ uid: "a", x: [7], y: [8] }], cursor: "second" };
    expect(mergeFigure(held, answer)).toEqual(answer);
    expect(mergeFigure(undefined, answer)).toEqual(answer);
  });
});
