import { describe, expect, it } from "vitest";
import type { PaperDiagram } from "@/api/types";
import { layOut, type Rectangle } from "./diagramLayout";

type Box = PaperDiagram["boxes"][number];

const box = (name: string, column: number, row = 0, rows = 1): Box => ({
  name,
  title: name,
  kind: "",
  does: "",
  column,
  row,
  rows,
  many: false,
  learned: false,
  readings: [{ label: "N", value: 1, unit: "", measured: true }],
});

/** Two queues between agents and a network, with an arrow around the queues. */
const DIAGRAM: PaperDiagram = {
  name: "d",
  title: "D",
  preset: "p",
  run: null,
  runs: [],
  boxes: [box("agents", 0, 0, 2), box("up", 1, 0), box("down", 1, 1), box("network", 2, 0, 2)],
  arrows: [
    { start: "agents", end: "up", carries: "states", around: false },
    { start: "up", end: "agents", carries: "answers", around: false },
    { start: "down", end: "up", carries: "both", around: false },
    { start: "network", end: "agents", carries: "π", around: true },
  ],
  groups: [{ title: "One process", boxes: ["up", "down"] }],
};

const overlap = (one: Rectangle, other: Rectangle) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

describe.each([
  ["wide", false],
  ["narrow", true],
])("a %s diagram", (_, narrow) => {
  const layout = layOut(DIAGRAM, narrow);
  const places = [...layout.boxes.values()];

  it("places boxes and arrows inside the drawing without overlaps", () => {
    for (const one of places) {
      expect(one.x).toBeGreaterThan(0);
      expect(one.x + one.width).toBeLessThan(layout.width);
      expect(one.y + one.height).toBeLessThan(layout.height);
      for (const other of places) if (one !== other) expect(overlap(one, other)).toBe(false);
    }
    const ends = layout.arrows.flatMap(({ points }) => points);
    for (const [x, y] of ends) {
      expect(x).toBeGreaterThan(0);
      expect(y).toBeGreaterThan(0);
    }
    expect(new Set(layout.arrows.map(({ badge }) => badge.join(","))).size).toBe(4);
  });

  it("frames only the boxes of a group", () => {
    const [frame] = layout.groups;
    const inside = [...layout.boxes]
      .filter(([, place]) => frame && overlap(frame, place))
      .map(([name]) => name);
    expect(inside).toEqual(["up", "down"]);
  });

  it("draws straight arrows, and one around the boxes", () => {
    expect(layout.arrows.map(({ points }) => points.length)).toEqual([2, 2, 2, 4]);
    for (const { points } of layout.arrows)
      points.slice(1).forEach(([x, y], place) => {
        const [fromX, fromY] = points[place] ?? [NaN, NaN];
        expect(x === fromX || y === fromY).toBe(true);
      });
  });
});
