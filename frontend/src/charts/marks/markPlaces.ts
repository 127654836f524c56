/** Selection and positions of the marks of a chart. */

import type { Mark } from "@/api/types";
import type { XAxis } from "../curveView";
import { placeIn, type PlotArea } from "../plotly";

const FRAMES_PER_EPOCH = 4_000_000;
/** Marks that are closer than this many pixels share one button. */
const CLUSTER_PIXELS = 24;

/** Marks at one place of a chart. */
export interface Cluster {
  /** In pixels from the left of the chart. */
  left: number;
  marks: Mark[];
}

/** Return the name by which a mark is hidden: its kind, or the rule of an anomaly. */
export const nameOf = (mark: Pick<Mark, "kind" | "rule">): string => mark.rule ?? mark.kind;

/** Return the marks for a chart. The chart of the return has all of them, others have anomalies of their metrics. */
export function marksOf(
  marks: readonly Mark[],
  metrics: readonly string[],
  { isMain, hidden }: { isMain: boolean; hidden: readonly string[] },
): Mark[] {
  return marks.filter(
    (mark) =>
      !hidden.includes(nameOf(mark)) && (isMain || (mark.metric != null && metrics.includes(mark.metric))),
  );
}

/** Return where the marks are in a chart, in order from the left. Marks close to each other share a place. */
export function clusters(marks: readonly Mark[], axis: XAxis, area: PlotArea): Cluster[] {
  const placed = marks
    .flatMap((mark) => {
      const x = valueOn(axis, mark);
      const left = x === null ? null : placeIn(area, x);
      return left === null ? [] : [{ left, mark }];
    })
    .toSorted((a, b) => a.left - b.left);
  const found: Cluster[] = [];
  for (const { left, mark } of placed) {
    const last = found.at(-1);
    if (last && left - last.left < CLUSTER_PIXELS) last.marks.push(mark);
    else found.push({ left, marks: [mark] });
  }
  return found;
}

function valueOn(axis: XAxis, mark: Mark): number | null {
  if (axis === "time") return mark.seconds;
  if (axis === "epoch") return mark.frames / FRAMES_PER_EPOCH;
  return axis === "frames" ? mark.frames : mark.step;
}
