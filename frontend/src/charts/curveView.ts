/** View of curves (axis, smoothing, log scales) in the page's URL. */

import type { FigureLookQuery } from "@/api/figures";
import type { Run } from "@/api/types";
import { isReported } from "@/ui/states";

export const X_AXES = ["step", "frames", "epoch", "time"] as const;
export type XAxis = (typeof X_AXES)[number];

/** Band around the mean of a group of runs. */
export const BANDS = ["bootstrap", "standard-error", "range"] as const;
export type Band = (typeof BANDS)[number];

/** Line of a group of runs: the mean or the interquartile mean. */
export const CENTERS = ["mean", "iqm"] as const;
export type Center = (typeof CENTERS)[number];

/** Return the axes that make sense for these runs. Scripts count only steps. */
export function axesOf(runs: readonly Pick<Run, "origin">[]): readonly XAxis[] {
  return runs.length > 0 && runs.every(isReported) ? ["step", "time"] : X_AXES;
}

export interface CurveView {
  x: XAxis;
  smoothing: number;
  xLog: boolean;
  yLog: boolean;
  /** True to choose the range of y without outliers. */
  clip: boolean;
  /** True to start a fork's curve with that of its parent. */
  ancestry: boolean;
  /** True to draw groups of runs as one curve. */
  grouped: boolean;
  /** Settings that the runs of a group share. If empty, they differ only in seed. */
  by: readonly string[];
  center: Center;
  band: Band;
  seeds: boolean;
  /** True to mark forks, resumed attempts and changed settings of compared runs. */
  marks: boolean;
}

export const X_TITLES: Record<XAxis, string> = {
  step: "Steps",
  frames: "Frames",
  epoch: "Epochs",
  time: "Time",
};

export const DEFAULT_VIEW: CurveView = {
  x: "step",
  smoothing: 0.6,
  xLog: false,
  yLog: false,
  clip: false,
  ancestry: true,
  grouped: true,
  by: [],
  center: "mean",
  band: "bootstrap",
  seeds: false,
  marks: false,
};
const MOST_SMOOTHING = 0.99;

const ZOOM = "zoom";
/** Precision finer than a screen, and short enough for a URL. */
const ZOOM_DIGITS = 9;

/** Return the settings in "group_by=algorithm,learning_rate". */
function readGroupBy(search: URLSearchParams): string[] {
  return [...new Set((search.get("group_by") ?? "").split(",").filter((name) => /^\w+$/.test(name)))];
}

/** Read the view from a query string. Invalid values become the default. */
export function readView(search: URLSearchParams): CurveView {
  const x = X_AXES.find((axis) => axis === search.get("x")) ?? DEFAULT_VIEW.x;
  const written = search.get("smoothing");
  const smoothing = written === null || written === "" ? Number.NaN : Number(written);
  return {
    x,
    smoothing: Number.isFinite(smoothing)
      ? Math.min(Math.max(smoothing, 0), MOST_SMOOTHING)
      : DEFAULT_VIEW.smoothing,
    xLog: search.get("x_log") === "1",
    yLog: search.get("y_log") === "1",
    clip: search.get("clip") === "1",
    ancestry: search.get("ancestry") !== "0",
    grouped: search.get("group") !== "none",
    by: readGroupBy(search),
    center: CENTERS.find((center) => center === search.get("center")) ?? DEFAULT_VIEW.center,
    band: BANDS.find((band) => band === search.get("band")) ?? DEFAULT_VIEW.band,
    seeds: search.get("seeds") === "1",
    marks: search.get("marks") === "1",
  };
}

/** Write the view into a query string without defaults. A zoom on another axis is removed. */
export function writeView(search: URLSearchParams, view: CurveView): URLSearchParams {
  const next = new URLSearchParams(search);
  const before = readView(search);
  if (before.x !== view.x || before.xLog !== view.xLog) next.delete(ZOOM);
  const put = (name: string, value: string, usual: string) => {
    if (value === usual) next.delete(name);
    else next.set(name, value);
  };
  put("x", view.x, DEFAULT_VIEW.x);
  put("smoothing", String(view.smoothing), String(DEFAULT_VIEW.smoothing));
  put("x_log", view.xLog ? "1" : "0", "0");
  put("y_log", view.yLog ? "1" : "0", "0");
  put("clip", view.clip ? "1" : "0", "0");
  put("ancestry", view.ancestry ? "1" : "0", "1");
  put("group", view.grouped ? "seed" : "none", "seed");
  put("group_by", view.by.join(","), "");
  put("center", view.center, DEFAULT_VIEW.center);
  put("band", view.band, DEFAULT_VIEW.band);
  put("seeds", view.seeds ? "1" : "0", "0");
  put("marks", view.marks ? "1" : "0", "0");
  return next;
}

export type Zoom = readonly [from: number, to: number];

/** Return the query parameter of a zoom. A page with several x axes has one for each. */
const zoomName = (axis: string | undefined) => (axis === undefined ? ZOOM : `${ZOOM}-${axis}`);

/** Return the zoom of the page's charts, or of those with an axis, from "zoom=100:200", or null. */
export function readZoom(search: URLSearchParams, xLog: boolean, axis?: string): Zoom | null {
  const bounds = search.get(zoomName(axis))?.split(":") ?? [];
  const [from = Number.NaN, to = Number.NaN] = bounds.length === 2 ? bounds.map(Number) : [];
  return Number.isFinite(to - from) && from < to && (from > 0 || !xLog) ? [from, to] : null;
}

/** Write the zoom of the page's charts, or of those with an axis, into a query string. */
export function writeZoom(search: URLSearchParams, zoom: Zoom | null, axis?: string): URLSearchParams {
  const next = new URLSearchParams(search);
  if (zoom) next.set(zoomName(axis), zoom.map((end) => Number(end.toPrecision(ZOOM_DIGITS))).join(":"));
  else next.delete(zoomName(axis));
  return next;
}

/** Return the query of a figure. A zoomed range gets all the buckets, hence finer data. */
export function figureRequest(
  view: CurveView,
  zoom: Zoom | null,
  buckets: number,
  several = false,
): FigureLookQuery {
  return {
    x: view.x,
    smoothing: view.smoothing,
    buckets,
    ...(view.xLog && { x_log: true }),
    ...(view.yLog && { y_log: true }),
    ...(view.clip && { clip: true }),
    ...(view.ancestry && { ancestry: true }),
    ...(zoom && { from: zoom[0], to: zoom[1] }),
    ...(several &&
      view.grouped && {
        group: "seed",
        ...(view.by.length > 0 && { group_by: view.by.join(",") }),
        center: view.center,
        band: view.band,
        ...(view.seeds && { seeds: true }),
      }),
  };
}
