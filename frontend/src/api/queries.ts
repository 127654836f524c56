import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { request, type QueryParams } from "./client";
import type {
  Checkpoint,
  Comparison,
  Environment,
  Figure,
  Health,
  LogPage,
  Metrics,
  Preset,
  Run,
  RunPage,
  Session,
  Video,
  Worker,
} from "./types";

// Keys start with the thing that an event of the live stream names; see live/invalidate.ts.

export interface RunListQuery extends QueryParams {
  state?: string[];
  tag?: string[];
  algorithm?: string[];
  env?: string[];
  text?: string;
  archived?: boolean;
  sort?: string;
}

export const PAGE = 100;

export const runListQuery = (query: RunListQuery) =>
  infiniteQueryOptions({
    queryKey: ["runs", query],
    queryFn: ({ pageParam, signal }) =>
      request<RunPage>("GET", "/runs", { query: { ...query, limit: PAGE, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });

export const runQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "detail"],
    queryFn: ({ signal }) => request<Run>("GET", `/runs/${id}`, { signal }),
  });

export interface MetricsQuery extends QueryParams {
  names: string;
  x?: "step" | "frames" | "time" | "epoch";
  from?: number;
  to?: number;
  buckets?: number;
}

export const metricsQuery = (id: number, query: MetricsQuery) =>
  queryOptions({
    queryKey: ["run", id, "metrics", query],
    queryFn: ({ signal }) => request<Metrics>("GET", `/runs/${id}/metrics`, { query, signal }),
    placeholderData: keepPreviousData,
  });

export const metricNamesQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "metric-names"],
    queryFn: ({ signal }) => request<string[]>("GET", `/runs/${id}/metric-names`, { signal }),
  });

export const checkpointsQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "checkpoints"],
    queryFn: ({ signal }) => request<Checkpoint[]>("GET", `/runs/${id}/checkpoints`, { signal }),
  });

export const videosQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "videos"],
    queryFn: ({ signal }) => request<Video[]>("GET", `/runs/${id}/videos`, { signal }),
  });

export interface LogQuery extends QueryParams {
  after?: number;
  before?: number;
  limit?: number;
  search?: string;
}

/** One page of a log; a tail keeps its own lines and asks from the last id on. */
export const fetchLog = (id: number, query: LogQuery, signal?: AbortSignal) =>
  request<LogPage>("GET", `/runs/${id}/log`, { query, signal });

export interface CurvesQuery extends QueryParams {
  metric: string;
  x?: "step" | "frames" | "epoch" | "time";
  from?: number;
  to?: number;
  smoothing?: number;
  buckets?: number;
  x_log?: boolean;
  y_log?: boolean;
}

export const curvesQuery = (runs: readonly number[], query: CurvesQuery) =>
  queryOptions({
    queryKey: ["figure", "curves", { runs, ...query }],
    queryFn: ({ signal }) =>
      request<Figure>("GET", "/figures/curves", { query: { runs: runs.join(","), ...query }, signal }),
    placeholderData: keepPreviousData,
    enabled: runs.length > 0,
  });

export const comparisonQuery = (runs: readonly number[]) =>
  queryOptions({
    queryKey: ["compare", { runs }],
    queryFn: ({ signal }) =>
      request<Comparison>("GET", "/compare", { query: { runs: runs.join(",") }, signal }),
    placeholderData: keepPreviousData,
    enabled: runs.length > 0,
  });

const FOR_EVER = { staleTime: Infinity };

export const configSchemaQuery = queryOptions({
  queryKey: ["config-schema"],
  queryFn: ({ signal }) => request<Record<string, unknown>>("GET", "/config-schema", { signal }),
  ...FOR_EVER,
});

export const presetsQuery = queryOptions({
  queryKey: ["presets"],
  queryFn: ({ signal }) => request<Preset[]>("GET", "/presets", { signal }),
  ...FOR_EVER,
});

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  queryFn: ({ signal }) => request<Environment[]>("GET", "/environments", { signal }),
  ...FOR_EVER,
});

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => request<Worker[]>("GET", "/workers", { signal }),
});

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => request<Health>("GET", "/health", { signal }),
});

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => request<Session>("GET", "/session", { signal }),
  staleTime: 60_000,
});
