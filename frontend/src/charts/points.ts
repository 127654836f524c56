/** Points of a chart as table rows. */

import { fetchMetricNames, fetchMetrics, type MetricsQuery } from "@/api/metrics";
import { joinNames } from "@/api/nameList";
import type { Figure, Metrics } from "@/api/types";
import type { Cell } from "./csv";
import type { XAxis, Zoom } from "./curveView";

// Fine enough for a spreadsheet, and few enough for one response. The run's export has every raw point.
const BUCKETS = 5000;

export const ROW_HEADER = (x: XAxis) => [
  "run",
  "metric",
  x === "time" ? "seconds" : x,
  "mean",
  "min",
  "max",
  "last",
  "points",
];

export function rowsOf({ run_id, series }: Metrics): Cell[][] {
  return Object.entries(series).flatMap(([name, points]) =>
    points.x.map((x, i) => [
      run_id,
      name,
      x,
      points.mean[i],
      points.min[i],
      points.max[i],
      points.last[i],
      points.count[i],
    ]),
  );
}

/** Return a run's points of some metrics. Skip metrics that it has not reported. */
export async function metricRows(
  run: number,
  metrics: readonly string[],
  x: XAxis,
  zoom: Zoom | null,
): Promise<Cell[][]> {
  const reported = await fetchMetricNames(run);
  const names = metrics.filter((name) => reported.includes(name));
  if (names.length === 0) return [];
  const query: MetricsQuery = {
    names: joinNames(names),
    x,
    buckets: BUCKETS,
    ...(zoom && { from: zoom[0], to: zoom[1] }),
  };
  return rowsOf(await fetchMetrics(run, query));
}

export const DRAWN_HEADER = ["curve", "x", "y", "label"];

/** Return a row for each point or bar of a figure, with its hover text. */
export function drawnRows({ data }: Figure): Cell[][] {
  return data.flatMap((trace) => {
    if (trace["type"] === "heatmap") return heatMapRows(trace);
    const cells = (name: string) => (trace[name] ?? []) as Cell[];
    const [y, hover] = [cells("y"), cells("hovertext")];
    return cells("x").map((x, i) => [trace["name"], x, y[i], hover[i]].map((cell) => asRead(cell as Cell)));
  });
}

/** Return a row for each cell of a heat map. The curve is the name of the cell's line. */
function heatMapRows(trace: Figure["data"][number]): Cell[][] {
  const [x, names, z, hover] = ["x", "y", "z", "hovertext"].map((name) => (trace[name] ?? []) as Cell[]);
  const cellOf = (table: Cell[] | undefined, row: number, column: number) =>
    (table?.[row] as unknown as Cell[] | undefined)?.[column];
  return (names ?? []).flatMap((name, row) =>
    (x ?? []).map((place, column) =>
      [name, place, cellOf(z, row, column), cellOf(hover, row, column)].map((cell) => asRead(cell)),
    ),
  );
}

/** Unescape text, because Plotly receives it as HTML. */
function asRead(cell: Cell): Cell {
  if (typeof cell !== "string" || !cell.includes("&")) return cell;
  return new DOMParser().parseFromString(cell, "text/html").documentElement.textContent;
}
