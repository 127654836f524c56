/** How curves are looked at (axis, smoothing, log scales), kept in the page's URL. */

import type { FigureLookQuery } from "@/api/queries";

export const X_AXES = ["step", "frames", "epoch", "time"] as const;
export type XAxis = (typeof X_AXES)[number];

export interface CurveView {
  x: XAxis;
  smoothing: number;
  xLog: boolean;
  yLog: boolean;
}

export const X_TITLES: Record<XAxis, string> = {
  step: "Steps",
  frames: "Frames",
  epoch: "Epochs",
  time: "Time",
};

export const DEFAULT_VIEW: CurveView = { x: "step", smoothing: 0.6, xLog: false, yLog: false };
const MOST_SMOOTHING = 0.99;

/** Read the view from a query string; anything not understood falls back to the default. */
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
  };
}

/** Write the view into a query string, leaving out what is the default and leaving all else as it is. */
export function writeView(search: URLSearchParams, view: CurveView): URLSearchParams {
  const next = new URLSearchParams(search);
  const put = (name: string, value: string, usual: string) => {
    if (value === usual) next.delete(name);
    else next.set(name, value);
  };
  put("x", view.x, DEFAULT_VIEW.x);
  put("smoothing", String(view.smoothing), String(DEFAULT_VIEW.smoothing));
  put("x_log", view.xLog ? "1" : "0", "0");
  put("y_log", view.yLog ? "1" : "0", "0");
  return next;
}

export type Zoom = readonly [from: number, to: number];

/** How a figure is asked for: the zoomed part alone gets all the buckets, hence finer data. */
export function figureRequest(view: CurveView, zoom: Zoom | null, buckets: number): FigureLookQuery {
  return {
    x: view.x,
    smoothing: view.smoothing,
    buckets,
    ...(view.xLog && { x_log: true }),
    ...(view.yLog && { y_log: true }),
    ...(zoom && { from: zoom[0], to: zoom[1] }),
  };
}
