import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { figureAt } from "./figureAddress";
import type { ComparedRun, Comparison, Figure, QueryOf, Thresholds, Verdict } from "./types";

/** As many runs as a comparison takes. */
export const MOST_RUNS = 100;

/** Runs beside one another, in groups that agree in the settings `by`, or else differ in their seed alone. */
const grouped = (runs: readonly number[], by: readonly string[]) => ({
  runs: runs.join(","),
  ...(by.length > 0 && { group_by: by.join(",") }),
});

/** The runs of a comparison, colored as the curves draw them: by group, or each run apart. */
export const comparisonQuery = (runs: readonly number[], by: readonly string[], byGroup: boolean) =>
  queryOptions({
    queryKey: ["compare", { runs, by, byGroup }],
    queryFn: ({ signal }): Promise<Comparison> =>
      call("get", "/api/v1/compare", { query: { ...grouped(runs, by), grouped: byGroup }, signal }),
    placeholderData: keepPreviousData,
    enabled: runs.length > 0,
  });

/** Which of the runs' settings are best, over their seeds. */
export const verdictQuery = (runs: readonly number[], by: readonly string[]) =>
  queryOptions({
    queryKey: ["compare", "verdict", { runs, by }],
    queryFn: ({ signal }): Promise<Verdict> =>
      call("get", "/api/v1/compare/verdict", { query: grouped(runs, by), signal }),
    placeholderData: keepPreviousData,
    enabled: runs.length > 1,
  });

/** How soon groups of runs came to a score. */
export const thresholdsQuery = (
  runs: readonly number[],
  by: readonly string[],
  asked: Pick<QueryOf<"/api/v1/compare/thresholds">, "score" | "to">,
) =>
  queryOptions({
    queryKey: ["compare", "thresholds", { runs, by, ...asked }],
    queryFn: ({ signal }): Promise<Thresholds> =>
      call("get", "/api/v1/compare/thresholds", { query: { ...grouped(runs, by), ...asked }, signal }),
    placeholderData: keepPreviousData,
  });

/** What share of the runs of each of these settings scores above which return. */
export const profileFigureQuery = (runs: readonly number[], by: readonly string[]) =>
  queryOptions({
    queryKey: ["compare", "profile", { runs, by }],
    meta: figureAt("/figures/profile", grouped(runs, by)),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/figures/profile", { query: grouped(runs, by), signal }),
    placeholderData: keepPreviousData,
  });

/** Scores of groups over their runs and games, by step. */
export const efficiencyFigureQuery = (
  runs: readonly number[],
  by: readonly string[],
  center: "mean" | "iqm",
) =>
  queryOptions({
    queryKey: ["compare", "efficiency", { runs, by, center }],
    meta: figureAt("/figures/sample-efficiency", { ...grouped(runs, by), center }),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/figures/sample-efficiency", { query: { ...grouped(runs, by), center }, signal }),
    placeholderData: keepPreviousData,
  });

/** Name a run by how it differs from the others, followed by its number. */
export function labelWithoutNumber({ label, id }: ComparedRun): string {
  const end = ` #${id}`;
  return label.endsWith(end) ? label.slice(0, -end.length) : label;
}

/** A setting that runs can be grouped by. */
export interface GroupField {
  value: string;
  label: string;
}

/** The settings that runs can be grouped by; null where no two runs could be one group. */
export function groupFields({ runs, groups, differences }: Comparison): GroupField[] | null {
  const differing = differences.filter(({ same, field }) => !same && field !== "seed");
  if (runs.length < 2 || (differing.length < 2 && groups.every((group) => group.length === 1))) return null;
  return differing.map(({ field, title }) => ({ value: field, label: title }));
}

/** Every metric that one of the runs has reported. */
export function metricNames({ summary }: Comparison): string[] {
  return [...new Set(summary.flatMap((row) => Object.keys(row.metrics)))].sort();
}
