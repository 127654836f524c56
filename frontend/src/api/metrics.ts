import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery } from "./requests";
import { runKeys } from "./runs";
import type { components } from "./schema";
import { live, ofRuns, SELDOM_SECONDS } from "./topics";
import type { Metrics, QueryOf } from "./types";
import { readAs } from "./versions";

export type MetricsQuery = QueryOf<"/api/v1/runs/{run_id}/metrics">;

export const metricKeys = {
  names: (run: number) => [...runKeys.everythingOf(run), "metric-names"] as const,
  allNames: ["metric-names"] as const,
  sparklines: (runs: readonly number[]) => ["sparklines", runs] as const,
  catalog: ["metric-catalog"] as const,
};

export const fetchMetrics = (run: number, query: MetricsQuery, signal?: AbortSignal): Promise<Metrics> =>
  call("get", "/api/v1/runs/{run_id}/metrics", { params: { path: { run_id: run }, query }, signal });

export const fetchMetricNames = (run: number, signal?: AbortSignal): Promise<string[]> =>
  call("get", "/api/v1/runs/{run_id}/metric-names", { params: { path: { run_id: run } }, signal });

export const metricNamesQuery = (run: number) =>
  queryOptions({
    queryKey: metricKeys.names(run),
    ...live(ofRuns([run], "run.metrics"), SELDOM_SECONDS),
    queryFn: ({ signal }) => fetchMetricNames(run, signal),
  });

type Line = components["schemas"]["Sparkline"];

const readLines = readAs(
  (lines: Line[]): ReadonlyMap<number, Line["values"]> =>
    new Map(lines.map(({ run_id, values }) => [run_id, values])),
);

/** Small curves of the return, by run. */
export const sparklinesQuery = (runs: readonly number[]) =>
  queryOptions({
    queryKey: metricKeys.sparklines(runs),
    ...live(ofRuns(runs, "run.metrics"), SELDOM_SECONDS),
    queryFn: ({ signal }) =>
      call("get", "/api/v1/sparklines", { params: { query: { run: [...runs] } }, signal }).then(readLines),
    placeholderData: keepPreviousData,
  });

export const allMetricNamesQuery = apiQuery(metricKeys.allNames, "/api/v1/metric-names");

export const metricCatalogQuery = apiQuery(
  metricKeys.catalog,
  "/api/v1/metric-catalog",
  {},
  { staleTime: Infinity },
);
