/** Conversion between the chart fields of a report or a board and the stored figure URL. */

import { joinParts, partsOf, runsAt } from "@/api/figures";
import { BANDS, CENTERS, type CurveView, DEFAULT_VIEW, figureRequest, X_AXES } from "../curveView";

const PREFIX = "/api/v1/";
const BUCKETS = 400;
const RETURN = "episode/return";
const ENTROPY = "train/entropy";

export const CHARTS = [
  { value: "figures/curves", label: "Curve of a metric" },
  { value: "figures/percentiles", label: "Percentiles over seeds" },
  { value: "figures/metric-by-metric", label: "Metric against metric" },
  { value: "figures/scatter", label: "One point per run" },
  { value: "figures/episode-histogram", label: "Histogram of episodes" },
  { value: "figures/action-shares", label: "Actions of a run" },
  { value: "figures/evaluations", label: "Evaluations of a run" },
  { value: "figures/sample-efficiency", label: "Sample efficiency" },
  { value: "figures/profile", label: "Performance profile" },
];

const ONE_RUN = ["figures/evaluations", "figures/action-shares"];
const CURVES = ["figures/curves", "figures/percentiles", "figures/evaluations"];
const LOG_SCALES = ["figures/metric-by-metric", "figures/scatter"];
const GROUPED = [
  "figures/percentiles",
  "figures/episode-histogram",
  "figures/sample-efficiency",
  "figures/profile",
];

export interface ChartChoice {
  /** Path of the figure after /api/v1/. */
  path: string;
  runs: number[];
  /** Metric of the y axis. */
  metric: string;
  /** Metric of the x axis, for a metric against another. */
  xMetric: string;
  /** Numbers of each run, for one point per run. */
  xNumber: string;
  yNumber: string;
  view: CurveView;
}

/** A curve of no runs yet. */
export const NEW_CHART = `${PREFIX}figures/curves?smoothing=${DEFAULT_VIEW.smoothing}&group=seed`;

/** Return true if the chart fields can represent this URL. Other URLs are edited as text. */
export const hasFields = (address: string) => CHARTS.some(({ value }) => value === partsOf(address).path);

export const isOfOneRun = (path: string) => ONE_RUN.includes(path);
export const hasCurveView = (path: string) => CURVES.includes(path);
export const hasLogScales = (path: string) => LOG_SCALES.includes(path);

/** Parse a figure URL. Missing parameters have the API's defaults. */
export function readChoice(address: string): ChartChoice {
  const { path, query } = partsOf(address);
  const is = (name: string) => ["1", "true"].includes(query.get(name) ?? "");
  const by = (query.get("group_by") ?? "").split(",").filter(Boolean);
  const isPair = path === "figures/scatter";
  return {
    path,
    runs: runsAt(address),
    metric: query.get("metric") ?? query.get("y_metric") ?? RETURN,
    xMetric: query.get("x_metric") ?? ENTROPY,
    xNumber: (isPair && query.get("x")) || "learning_rate",
    yNumber: (isPair && query.get("y")) || "best_return",
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
      marks: false,
    },
  };
}

/** Return the figure URL of a choice. Keep the zoom if the horizontal axis is unchanged. */
export function writeChoice(before: string, choice: ChartChoice): string {
  const { path, runs, view } = choice;
  const { query: current } = partsOf(before);
  const old = readChoice(before);
  const query = new URLSearchParams({ runs: runs.join(",") });
  const look = hasCurveView(path);
  for (const [name, value] of Object.entries(ownParams(choice))) query.set(name, String(value));
  const samePart = old.view.x === view.x && old.view.xLog === view.xLog && old.path === path;
  if (look && samePart)
    for (const end of ["from", "to"]) if (current.has(end)) query.set(end, current.get(end) ?? "");
  if (GROUPED.includes(path) && view.by.length > 0) query.set("group_by", view.by.join(","));
  if (path === "figures/sample-efficiency") query.set("center", current.get("center") ?? "iqm");
  return joinParts(path, query);
}

/** Return the parameters that only some figures have. */
function ownParams({ path, metric, xMetric, xNumber, yNumber, view }: ChartChoice): Record<string, unknown> {
  const logs = {
    ...(view.xLog && { x_log: true }),
    ...(view.yLog && { y_log: true }),
    ...(view.clip && { clip: true }),
  };
  const { ancestry: _, ...withoutAncestry } = figureRequest(view, null, BUCKETS);
  switch (path) {
    case "figures/curves":
      return { metric, ...figureRequest(view, null, BUCKETS, true) };
    case "figures/percentiles":
      return { metric, ...withoutAncestry };
    case "figures/evaluations":
      return withoutAncestry;
    case "figures/metric-by-metric":
      return { x_metric: xMetric, y_metric: metric, smoothing: view.smoothing, ...logs };
    case "figures/scatter":
      return { x: xNumber, y: yNumber, ...logs };
    default:
      return {};
  }
}
