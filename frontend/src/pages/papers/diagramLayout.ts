import type { PaperDiagram } from "@/api/types";

type Box = PaperDiagram["boxes"][number];
type Arrow = PaperDiagram["arrows"][number];

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface BoxPlace extends Rectangle {
  /** True if the box is too narrow for a label and its number in one line. */
  stacked: boolean;
}

export interface Line {
  points: [number, number][];
  /** Position of the arrow's number. */
  badge: [number, number];
}

export interface DiagramLayout {
  width: number;
  height: number;
  boxes: Map<string, BoxPlace>;
  arrows: Line[];
  groups: Rectangle[];
}

/** Sizes of one drawing. Wide screens have the columns side by side, narrow screens one below another. */
interface Sizes {
  width: number;
  /** Gaps between boxes along the flow and across it. */
  along: number;
  across: number;
  /** Space next to the boxes for arrows around them. */
  around: number;
  /** Space between a group's frame and its boxes. */
  frame: number;
}

/** Width of a box on wide screens, and of the drawing on narrow ones. */
const WIDE: Sizes = { width: 196, along: 100, across: 48, around: 40, frame: 12 };
const NARROW: Sizes = { width: 336, along: 56, across: 22, around: 36, frame: 8 };
/** Space around the drawing. */
const EDGE = 10;
/** Space for a group's title below its boxes. */
const GROUP_TITLE = 24;
/** Shorter arrows have their number above them, because it would hide them. */
const SHORT = 40;
/** Half the distance between two opposite arrows. */
const APART = 14;

/** Height of a box above and below its readings. */
export const READINGS_BELOW = 46;
const BOTTOM = 6;

/** Return the height of a reading: a label with its number in one line, or in two. */
export const readingHeight = (stacked: boolean) => (stacked ? 33 : 19);

const heightOf = (box: Box, stacked = false) =>
  READINGS_BELOW + readingHeight(stacked) * box.readings.length + BOTTOM;

const right = ({ x, width }: Rectangle) => x + width;
const bottom = ({ y, height }: Rectangle) => y + height;

/** Number of columns and rows of a diagram, and whether some arrow goes around the boxes. */
interface Grid {
  columns: number;
  rows: number;
  around: boolean;
}

/** Return the positions of a diagram's boxes and arrows. */
export function layOut({ boxes, arrows, groups }: PaperDiagram, narrow: boolean): DiagramLayout {
  const { frame } = narrow ? NARROW : WIDE;
  const grid = {
    columns: 1 + Math.max(...boxes.map(({ column }) => column)),
    rows: Math.max(...boxes.map(({ row, rows }) => row + rows)),
    around: arrows.some((arrow) => arrow.around),
  };
  const placed = narrow ? placeNarrow(boxes, grid) : placeWide(boxes, grid);
  return {
    ...placed,
    arrows: arrows.map((arrow) => route(arrow, arrows, placed.boxes, narrow)),
    height: placed.height + (groups.length > 0 ? GROUP_TITLE : 0),
    groups: groups.map((group) => {
      const members = group.boxes.flatMap((name) => placed.boxes.get(name) ?? []);
      return frameOf(members, frame);
    }),
  };
}

type Placed = Omit<DiagramLayout, "arrows" | "groups">;

/** Place the columns side by side. */
function placeWide(boxes: Box[], { columns, rows, around }: Grid): Placed {
  const { width, along, across, frame } = WIDE;
  const edge = EDGE + frame;
  const top = edge + (around ? WIDE.around : 0);
  const heights = rowHeights(boxes, rows, across);
  const starts = startsOf(heights, across, top);
  const found = boxes.map((box) => {
    const last = box.row + box.rows - 1;
    const x = edge + box.column * (width + along);
    const y = starts[box.row] ?? 0;
    const height = (starts[last] ?? 0) + (heights[last] ?? 0) - y;
    return [box.name, { x, y, width, height, stacked: false }] as const;
  });
  const whole = 2 * edge + columns * width + (columns - 1) * along;
  return { width: whole, height: bottomOf(found) + edge, boxes: new Map(found) };
}

/** Place the columns one below another, with the boxes of each side by side. */
function placeNarrow(boxes: Box[], { columns, rows, around }: Grid): Placed {
  const { along, across, frame } = NARROW;
  const edge = EDGE + frame;
  const left = around ? NARROW.around : edge;
  const one = (NARROW.width - left - edge - (rows - 1) * across) / rows;
  const isStacked = (box: Box) => box.rows < rows;
  const heights = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...boxes.filter((box) => box.column === column).map((box) => heightOf(box, isStacked(box)))),
  );
  const starts = startsOf(heights, along, edge);
  const found = boxes.map((box) => {
    const width = one * box.rows + across * (box.rows - 1);
    const x = left + box.row * (one + across);
    const [y, height] = [starts[box.column] ?? 0, heights[box.column] ?? 0];
    return [box.name, { x, y, width, height, stacked: isStacked(box) }] as const;
  });
  return { width: NARROW.width, height: bottomOf(found) + edge, boxes: new Map(found) };
}

/** Return the height of each row. A box over several rows makes them higher if it does not fit. */
function rowHeights(boxes: Box[], rows: number, across: number): number[] {
  const heights = Array.from({ length: rows }, (_, row) =>
    Math.max(0, ...boxes.filter((box) => box.row === row && box.rows === 1).map((box) => heightOf(box))),
  );
  return boxes
    .filter((box) => box.rows > 1)
    .reduce((found, box) => {
      const isIn = (row: number) => row >= box.row && row < box.row + box.rows;
      const has = found.filter((_, row) => isIn(row)).reduce((sum, height) => sum + height, 0);
      const missing = Math.max(0, heightOf(box) - has - (box.rows - 1) * across);
      return found.map((height, row) => (isIn(row) ? height + missing / box.rows : height));
    }, heights);
}

/** Return the positions of things of these sizes, one after another. */
function startsOf(sizes: number[], gap: number, first: number): number[] {
  let next = first;
  return sizes.map((size) => {
    const start = next;
    next += size + gap;
    return start;
  });
}

function bottomOf(found: (readonly [string, Rectangle])[]): number {
  return Math.max(...found.map(([, place]) => bottom(place)));
}

/** Return the frame of a group, with space for its title. */
function frameOf(boxes: Rectangle[], frame: number): Rectangle {
  const x = Math.min(...boxes.map((box) => box.x)) - frame;
  const y = Math.min(...boxes.map((box) => box.y)) - frame;
  return {
    x,
    y,
    width: Math.max(...boxes.map(right)) + frame - x,
    height: Math.max(...boxes.map(bottom)) + GROUP_TITLE - y,
  };
}

const NOWHERE: Rectangle = { x: 0, y: 0, width: 0, height: 0 };

/** Return the line of an arrow: around the boxes, or straight between their columns or their rows. */
function route(arrow: Arrow, all: Arrow[], boxes: Map<string, Rectangle>, narrow: boolean): Line {
  const start = boxes.get(arrow.start) ?? NOWHERE;
  const end = boxes.get(arrow.end) ?? NOWHERE;
  if (arrow.around) return narrow ? pastTheLeft(start, end) : overTheTop(start, end);
  const isPair = all.some((other) => !other.around && other.start === arrow.end && other.end === arrow.start);
  const apart = (isForward: boolean) => (isPair ? (isForward ? -APART : APART) : 0);
  if (right(start) <= end.x || right(end) <= start.x) {
    const isRight = start.x < end.x;
    const y = middle(start.y, bottom(start), end.y, bottom(end)) + apart(isRight);
    return isRight ? straight([right(start), y], [end.x, y]) : straight([start.x, y], [right(end), y]);
  }
  const isDown = start.y < end.y;
  const x = middle(start.x, right(start), end.x, right(end)) + apart(isDown);
  return isDown ? straight([x, bottom(start)], [x, end.y]) : straight([x, start.y], [x, bottom(end)]);
}

/** Return the middle of the overlap of two ranges. */
function middle(low: number, high: number, otherLow: number, otherHigh: number): number {
  return (Math.max(low, otherLow) + Math.min(high, otherHigh)) / 2;
}

function straight(from: [number, number], to: [number, number]): Line {
  const isShort = from[1] === to[1] && Math.abs(from[0] - to[0]) < SHORT;
  return {
    points: [from, to],
    badge: [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - (isShort ? APART : 0)],
  };
}

function overTheTop(start: Rectangle, end: Rectangle): Line {
  const y = Math.min(start.y, end.y) - WIDE.frame - WIDE.around / 2;
  const from = start.x + start.width / 2;
  const to = end.x + end.width / 2;
  return {
    points: [
      [from, start.y],
      [from, y],
      [to, y],
      [to, end.y],
    ],
    badge: [(from + to) / 2, y],
  };
}

function pastTheLeft(start: Rectangle, end: Rectangle): Line {
  const x = Math.min(start.x, end.x) - NARROW.frame - 14;
  const from = start.y + start.height / 2;
  const to = end.y + end.height / 2;
  return {
    points: [
      [start.x, from],
      [x, from],
      [x, to],
      [end.x, to],
    ],
    badge: [x, (from + to) / 2],
  };
}
