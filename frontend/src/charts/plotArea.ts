/** Position and range of the x axis of a drawn chart. */

import type { PlotlyHTMLElement } from "plotly.js";

export interface PlotArea {
  /** In pixels from the left of the chart. */
  left: number;
  width: number;
  /** Range of the axis. Exponents on a log axis. */
  from: number;
  to: number;
  log: boolean;
}

/** Internal data of Plotly, which has no types. */
interface DrawnAxis {
  _offset: number;
  _length: number;
  range: [number, number];
  type: string;
}

/** Return the area of a drawn chart, or null before it has axes. */
export function plotAreaOf(element: PlotlyHTMLElement): PlotArea | null {
  const axis = (element as { _fullLayout?: { xaxis?: DrawnAxis } })._fullLayout?.xaxis;
  if (!axis) return null;
  const [from, to] = axis.range;
  return { left: axis._offset, width: axis._length, from, to, log: axis.type === "log" };
}

/** The axis ends at the last point, but marks at the end of a run are slightly later. */
const TOLERANCE = 0.02;

/** Return the distance of a value from the left of the chart in pixels, or null outside of the axis. */
export function placeIn({ left, width, from, to, log }: PlotArea, x: number): number | null {
  const share = ((log ? Math.log10(x) : x) - from) / (to - from);
  return Math.abs(share - 0.5) <= 0.5 + TOLERANCE ? left + width * Math.min(Math.max(share, 0), 1) : null;
}
