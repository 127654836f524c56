/** Conversion between the chart fields of a report or a board and the stored figure URL. */

import { joinParts, partsOf, runsAt } from "@/api/figures";
import type { FigureKind } from "@/api/types";
import { BANDS, CENTERS, type CurveView, DEFAULT_VIEW, X_AXES } from "../curveView";

const RETURN = "episode/return";
const ENTROPY = "train/entropy";

export interface ChartChoice {
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
export const NEW_CHART = `/api/v1/figures/curves?smoothing=${DEFAULT_VIEW.smoothing}&group=seed`;

/** Return true if the axes of a figure are numbers of each run. */
export const showsNumbers = ({ parameters }: FigureKind) => parameters.includes("y");

/** Return true if the figure can draw runs alone or in groups. */
export const isGroupable = ({ parameters }: FigureKind) => parameters.includes("group");

/** Parse a figure URL. Missing parameters have the API's defaults. */
export function readChoice(kind: FigureKind, address: string): ChartChoice {
  const { query } = partsOf(address);
  const is = (name: string) => ["1", "true"].includes(query.get(name) ?? "");
  const by = (query.get("group_by") ?? "").split(",").filter(Boolean);
  const numbers = showsNumbers(kind);
  return {
    runs: runsAt(address),
    metric: query.get("metric") ?? query.get("y_metric") ?? RETURN,
    xMetric: query.get("x_metric") ?? ENTROPY,
    xNumber: (numbers && query.get("x")) || "learning_rate",
    yNumber: (numbers && query.get("y")) || "best_return",
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

/**
 * Return the URL of a figure of this kind with a choice. Of the URL before, keep parameters that are not part of the
 * choice, such as the zoom, if the figure and its horizontal axis are unchanged.
 */
export function writeChoice(kind: FigureKind, choice: ChartChoice, before = ""): string {
  const { runs, metric, xMetric, xNumber, yNumber, view } = choice;
  const grouped = isGroupable(kind) && view.grouped;
  const values: Record<string, string | number | boolean> = {
    metric,
    x_metric: xMetric,
    y_metric: metric,
    x: showsNumbers(kind) ? xNumber : view.x,
    y: yNumber,
    smoothing: view.smoothing,
    x_log: view.xLog,
    y_log: view.yLog,
    clip: view.clip,
    ancestry: view.ancestry,
    group_by: grouped || !isGroupable(kind) ? view.by.join(",") : "",
    ...(isGroupable(kind) && {
      group: grouped && "seed",
      center: grouped && view.center,
      band: grouped && view.band,
      seeds: grouped && view.seeds,
    }),
  };
  const { path, query: old } = partsOf(before);
  const was = path === `figures/${kind.name}` ? readChoice(kind, before).view : null;
  const isSamePart = was?.x === view.x && was.xLog === view.xLog;
  const query = new URLSearchParams({ runs: runs.join(",") });
  for (const name of kind.parameters.filter((each) => each !== "runs")) {
    const value = values[name] ?? (isSamePart && old.get(name));
    if (value !== false && value !== "" && value !== null) query.set(name, String(value));
  }
  return joinParts(`figures/${kind.name}`, query);
}
