/** State of the comparison page in its URL. */

import type { ComparedRun, Comparison, MetricValue } from "@/api/types";
import { parseRunNumbers, writeRunNumbers } from "@/api/runNumbers";
import type { Cell } from "@/charts/csv";
import { RETURN, returnsFirst } from "@/charts/metrics";
import { isReported } from "@/ui/states";
import { joinNames, splitNames } from "@/api/nameList";

/** Return the runs of ?runs=1,2,7-12, each once and in order. Invalid parts are ignored. */
export const readRuns = (search: URLSearchParams): number[] => parseRunNumbers(search.get("runs") ?? "");

export function writeRuns(search: URLSearchParams, runs: readonly number[]): URLSearchParams {
  return written(search, "runs", writeRunNumbers(runs));
}

/** Return the metrics of ?metric=a,b. The default is the return, or the first one if no run has reported a return. */
export function readMetrics(search: URLSearchParams, reported: readonly string[] = []): string[] {
  const names = splitNames(search.get("metric") ?? "");
  if (names.length > 0) return [...new Set(names)];
  const [main = RETURN] = returnsFirst(reported);
  return [main];
}

/** Return true if a run has episodes or, unlike a reported run, will have some. */
export function haveEpisodes({ runs }: Pick<Comparison, "runs">): boolean {
  return runs.some((run) => !isReported(run) || run.episodes > 0);
}

export function writeMetrics(search: URLSearchParams, metrics: readonly string[]): URLSearchParams {
  const usual = metrics.length === 1 && metrics[0] === RETURN;
  return written(search, "metric", usual ? "" : joinNames(metrics));
}

/** Return the summary's metric: the chosen one, or that of the first curve. */
export function readSummary(search: URLSearchParams, reported: readonly string[] = []): string {
  return search.get("summary") || (readMetrics(search, reported)[0] ?? RETURN);
}

export function writeSummary(search: URLSearchParams, metric: string | null): URLSearchParams {
  return written(search, "summary", metric ?? "");
}

function written(search: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(search);
  if (value) next.set(name, value);
  else next.delete(name);
  return next;
}

/** Return the runs in groups that differ only in their seed. */
export function groupedRuns({ runs, groups }: Comparison): ComparedRun[][] {
  return groups.map((ids) => runs.filter(({ id }) => ids.includes(id)));
}

export function ofOneGame({ runs }: Comparison): boolean {
  return new Set(runs.map(({ env }) => env)).size < 2;
}

export function readScore(search: URLSearchParams): number | undefined {
  const written = search.get("score");
  const score = written ? Number(written) : Number.NaN;
  return Number.isFinite(score) ? score : undefined;
}

/** Return the run of the reference group, if it is still compared. */
export function readTo(search: URLSearchParams, runs: readonly number[]): number | undefined {
  return runs.find((id) => String(id) === search.get("to"));
}

export function writeThreshold(
  search: URLSearchParams,
  name: "score" | "to",
  value: number | null,
): URLSearchParams {
  return written(search, name, value === null ? "" : String(value));
}

export interface SummaryRow {
  run: ComparedRun;
  last: MetricValue | null;
  max: MetricValue | null;
  mean: MetricValue | null;
  episodes: number;
  seconds: number | null;
}

export function summaryRows({ runs, summary }: Comparison, metric: string): SummaryRow[] {
  return runs.map((run) => {
    const found = summary.find((row) => row.run_id === run.id);
    const values = found?.metrics[metric];
    return {
      run,
      last: values?.last ?? null,
      max: values?.max ?? null,
      mean: values?.mean_last_100 ?? null,
      episodes: found?.episodes ?? run.episodes,
      seconds: found?.wall_seconds || null,
    };
  });
}

export type SortKey = "name" | "last" | "max" | "mean" | "episodes" | "seconds";
export interface Sorting {
  key: SortKey;
  descending: boolean;
}

/** Return a sort key. Missing values and NaN come last in both directions. */
function rank(value: MetricValue | null): number | null {
  if (value === null) return null;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}

export function sortedRows(rows: readonly SummaryRow[], { key, descending }: Sorting): SummaryRow[] {
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    if (key === "name") return sign * a.run.label.localeCompare(b.run.label, undefined, { numeric: true });
    const [left, right] = [rank(a[key]), rank(b[key])];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left === right ? a.run.id - b.run.id : sign * (left < right ? -1 : 1);
  });
}

export const SUMMARY_HEADER = [
  "run",
  "name",
  "state",
  "metric",
  "last",
  "max",
  "mean_last_100",
  "episodes",
  "seconds",
];

/** Return all metrics of all runs for a CSV file. */
export function summaryCells({ runs, summary }: Comparison): Cell[][] {
  return summary.flatMap(({ run_id, metrics, episodes, wall_seconds }) => {
    const run = runs.find((candidate) => candidate.id === run_id);
    return Object.entries(metrics).map(([name, { last, max, mean_last_100 }]) => [
      run_id,
      run?.name,
      run?.state,
      name,
      last,
      max,
      mean_last_100,
      episodes,
      wall_seconds,
    ]);
  });
}
