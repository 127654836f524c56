/** Conversion between the chart fields of a report and the stored figure URL. */

import { partsOf, runsAt } from "@/api/reports";
import { BANDS, CENTERS, type CurveView, DEFAULT_VIEW, figureRequest, X_AXES } from "@/charts/curveView";

const PREFIX = "/api/v1/";
const BUCKETS = 400;
const RETURN = "episode/return";

export const CHARTS = [
  { value: "figures/curves", label: "Curve of a metric" },
  { value: "figures/evaluations", label: "Evaluations of a run" },
  { value: "figures/sample-efficiency", label: "Sample efficiency" },
  { value: "figures/profile", label: "Performance profile" },
];

export interface ChartChoice {
  /** Path of the figure after /api/v1/. */
  path: string;
  runs: number[];
  /** Settings of a curve. */
  metric: string;
  view: CurveView;
}

/** A curve of no runs yet. */
export const NEW_CHART = `${PREFIX}figures/curves?smoothing=${DEFAULT_VIEW.smoothing}&group=seed`;

/** Return True if the chart fields can represent this URL. Other URLs are edited as text. */
export const hasFields = (address: string) => CHARTS.some(({ value }) => value === partsOf(address).path);

export const isOfOneRun = (path: string) => path === "figures/evaluations";

/** Parse a figure URL. Missing parameters have the API's defaults. */
export function readChoice(address: string): ChartChoice {
  const { path, query } = partsOf(address);
  const is = (name: string) => ["1", "true"].includes(query.get(name) ?? "");
  const by = (query.get("group_by") ?? "").split(",").filter(Boolean);
  return {
    path,
    runs: runsAt(address),
    metric: query.get("metric") ?? RETURN,
    view: {
      x: X_AXES.find((axis) => axis === query.get("x")) ?? "step",
      smoothing: Number(query.get("smoothing") ?? 0) || 0,
      xLog: is("x_log"),
      yLog: is("y_log"),
      clip: is("clip"),
      ancestry: is("ancestry"),
      grouped: query.get("group") === "seed" || by.length > 0,
      by,
      center: CENTERS.find((center) => center === query.get("center")) ?? "mean",
      band: BANDS.find((band) => band === query.get("band")) ?? "bootstrap",
      seeds: is("seeds"),
    },
  };
}

/** Return the figure URL of a choice. Keep the zoom if the horizontal axis is unchanged. */
export function writeChoice(before: string, { path, runs, metric, view }: ChartChoice): string {
  const { query: current } = partsOf(before);
  const old = readChoice(before);
  const query = new URLSearchParams({ runs: runs.join(",") });
  const look = path === "figures/curves" || path === "figures/evaluations";
  if (path === "figures/curves") query.set("metric", metric);
  if (look)
    for (const [name, value] of Object.entries(figureRequest(view, null, BUCKETS, path === "figures/curves")))
      query.set(name, String(value));
  const samePart = old.view.x === view.x && old.view.xLog === view.xLog && old.path === path;
  if (look && samePart)
    for (const end of ["from", "to"]) if (current.has(end)) query.set(end, current.get(end) ?? "");
  if (!look && view.by.length > 0) query.set("group_by", view.by.join(","));
  if (path === "figures/sample-efficiency") query.set("center", current.get("center") ?? "iqm");
  return `${PREFIX}${path}?${query.toString().replaceAll("%2C", ",").replaceAll("%2F", "/")}`;
}
