import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery } from "./requests";
import { figureAt } from "./figures";
import { LIST_SECONDS, live, ofRuns } from "./topics";
import type { ComparedRun, Comparison, QueryOf } from "./types";

/** Maximum number of runs in a comparison. */
export const MAX_RUNS = 500;

interface Grouping {
  runs: readonly number[];
  by: readonly string[];
}

/** Query keys of comparisons. The last part names the runs that are compared. */
export const comparisonKeys = {
  all: ["compare"] as const,
  detail: (grouping: Grouping & { byGroup: boolean }) => [...comparisonKeys.all, grouping] as const,
  verdict: (grouping: Grouping) => [...comparisonKeys.all, "verdict", grouping] as const,
  thresholds: (grouping: Grouping & ThresholdQuery) =>
    [...comparisonKeys.all, "thresholds", grouping] as const,
  marks: (runs: readonly number[]) => [...comparisonKeys.all, "marks", { runs }] as const,
  profile: (grouping: Grouping) => [...comparisonKeys.all, "profile", grouping] as const,
  efficiency: (grouping: Grouping & { center: string }) =>
    [...comparisonKeys.all, "efficiency", grouping] as const,
};

/** Query parameters for runs that are grouped by equal `by` settings, or by all settings but the seed. */
const groupParams = (runs: readonly number[], by: readonly string[]) => ({
  runs: runs.join(","),
  ...(by.length > 0 && { group_by: by.join(",") }),
});

const follow = (runs: readonly number[], meta?: object) =>
  live(ofRuns(runs, "run.changed", "run.metrics", "run.removed"), LIST_SECONDS, meta);

/** Runs side by side, colored like their curves: by group, or each run differently. */
export const comparisonQuery = (runs: readonly number[], by: readonly string[], byGroup: boolean) =>
  queryOptions({
    queryKey: comparisonKeys.detail({ runs, by, byGroup }),
    ...follow(runs),
    queryFn: ({ signal }): Promise<Comparison> =>
      call("get", "/api/v1/compare", {
        params: { query: { ...groupParams(runs, by), grouped: byGroup } },
        signal,
      }),
    placeholderData: keepPreviousData,
    enabled: runs.length > 0,
  });

/** Forks, resumed attempts and changed settings of the compared runs. */
export const comparedMarksQuery = (runs: readonly number[]) =>
  apiQuery(
    comparisonKeys.marks(runs),
    "/api/v1/marks",
    { query: { runs: runs.join(",") } },
    { ...follow(runs), placeholderData: keepPreviousData, enabled: runs.length > 0 },
  );

/** The best settings of the compared runs, over their seeds. */
export const verdictQuery = (runs: readonly number[], by: readonly string[]) =>
  apiQuery(
    comparisonKeys.verdict({ runs, by }),
    "/api/v1/compare/verdict",
    { query: groupParams(runs, by) },
    { ...follow(runs), placeholderData: keepPreviousData, enabled: runs.length > 1 },
  );

type ThresholdQuery = Pick<QueryOf<"/api/v1/compare/thresholds">, "score" | "to">;

/** Time each group of runs took to reach a score. */
export const thresholdsQuery = (runs: readonly number[], by: readonly string[], threshold: ThresholdQuery) =>
  apiQuery(
    comparisonKeys.thresholds({ runs, by, ...threshold }),
    "/api/v1/compare/thresholds",
    { query: { ...groupParams(runs, by), ...threshold } },
    { ...follow(runs), placeholderData: keepPreviousData },
  );

/** Performance profile: the share of runs above each return, by group. */
export const profileFigureQuery = (runs: readonly number[], by: readonly string[]) =>
  apiQuery(
    comparisonKeys.profile({ runs, by }),
    "/api/v1/figures/profile",
    { query: groupParams(runs, by) },
    {
      ...follow(runs, figureAt("/figures/profile", groupParams(runs, by))),
      placeholderData: keepPreviousData,
    },
  );

/** Scores of groups over their runs and games, by step. */
export const efficiencyFigureQuery = (
  runs: readonly number[],
  by: readonly string[],
  center: "mean" | "iqm",
) =>
  apiQuery(
    comparisonKeys.efficiency({ runs, by, center }),
    "/api/v1/figures/sample-efficiency",
    { query: { ...groupParams(runs, by), center } },
    {
      ...follow(runs, figureAt("/figures/sample-efficiency", { ...groupParams(runs, by), center })),
      placeholderData: keepPreviousData,
    },
  );

/** Return a run's distinguishing name without its number. */
export function labelWithoutNumber({ label, id }: ComparedRun): string {
  const end = ` #${id}`;
  return label.endsWith(end) ? label.slice(0, -end.length) : label;
}

/** A setting that runs can be grouped by. */
export interface GroupField {
  value: string;
  label: string;
}

/** Return the settings that runs can be grouped by, or null if no two runs could form a group. */
export function groupFields({ runs, groups, differences }: Comparison): GroupField[] | null {
  const differing = differences.filter(({ same, field }) => !same && field !== "seed");
  if (runs.length < 2 || (differing.length < 2 && groups.every((group) => group.length === 1))) return null;
  return differing.map(({ field, title }) => ({ value: field, label: title }));
}

/** Return every metric that a compared run has reported. */
export function metricNames({ summary }: Comparison): string[] {
  return [...new Set(summary.flatMap((row) => Object.keys(row.metrics)))].sort();
}
