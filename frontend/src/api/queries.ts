import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { type FigureAddress, figureAt } from "./figureAddress";
import { grown } from "./growth";
import type {
  Checkpoint,
  Environment,
  EvaluationChoices,
  EvaluationPage,
  EvaluationWithEpisodes,
  Facets,
  FailureGroup,
  Figure,
  Game,
  Games,
  Health,
  KeptGame,
  LiveGame,
  LogPage,
  MetricSection,
  Metrics,
  PlayedGame,
  Preset,
  QueryOf,
  Recording,
  Run,
  RunPage,
  Saliency,
  SaliencyMaps,
  Session,
  StartSet,
  Track,
  Replay,
  Worker,
} from "./types";

// Keys start with the thing that an event of the live stream names; see live/refresh.ts.

export type RunListQuery = Omit<QueryOf<"/api/v1/runs">, "limit" | "cursor">;
export type FailuresQuery = QueryOf<"/api/v1/run-failures">;
export type MetricsQuery = QueryOf<"/api/v1/runs/{run_id}/metrics">;
export type LogQuery = QueryOf<"/api/v1/runs/{run_id}/log">;
export type FigureLookQuery = Omit<QueryOf<"/api/v1/figures/curves">, "runs" | "metric" | "after">;

const FOR_EVER = { staleTime: Infinity };

export type EvaluationsFigureQuery = Omit<QueryOf<"/api/v1/figures/evaluations">, "runs" | "after">;

/** Runs, or evaluations, that one call fetches. */
export const PAGE = 100;

export const runListQuery = (query: RunListQuery) =>
  infiniteQueryOptions({
    queryKey: ["runs", query],
    queryFn: ({ pageParam, signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", { query: { ...query, limit: PAGE, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });

/** What the list of runs can be filtered by, over all runs and not only those that are loaded. */
export const facetsQuery = (archived: boolean) =>
  queryOptions({
    queryKey: ["run-facets", { archived }],
    queryFn: ({ signal }): Promise<Facets> =>
      call("get", "/api/v1/run-facets", { query: { archived }, signal }),
    placeholderData: keepPreviousData,
  });

/** The failures that several runs of a list share, over the whole list; told anew with what it can be filtered by. */
export const failuresQuery = (query: FailuresQuery) =>
  queryOptions({
    queryKey: ["run-facets", "failures", query],
    queryFn: ({ signal }): Promise<FailureGroup[]> => call("get", "/api/v1/run-failures", { query, signal }),
    placeholderData: keepPreviousData,
  });

export const runQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "detail"],
    queryFn: ({ signal }): Promise<Run> =>
      call("get", "/api/v1/runs/{run_id}", { path: { run_id: id }, signal }),
  });

/** Several runs in one call, to patch what shows them. */
export const changedRunsQuery = (ids: number[]) =>
  queryOptions({
    queryKey: ["changed-runs", ids],
    queryFn: ({ signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", { query: { id: ids, limit: PAGE }, signal }),
    gcTime: 0,
  });

export const fetchMetrics = (id: number, query: MetricsQuery, signal?: AbortSignal): Promise<Metrics> =>
  call("get", "/api/v1/runs/{run_id}/metrics", { path: { run_id: id }, query, signal });

export const fetchMetricNames = (id: number, signal?: AbortSignal): Promise<string[]> =>
  call("get", "/api/v1/runs/{run_id}/metric-names", { path: { run_id: id }, signal });

export const metricNamesQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "metric-names"],
    queryFn: ({ signal }) => fetchMetricNames(id, signal),
  });

export const allMetricNamesQuery = queryOptions({
  queryKey: ["metric-names"],
  queryFn: ({ signal }): Promise<string[]> => call("get", "/api/v1/metric-names", { signal }),
});

export const checkpointsQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "checkpoints"],
    queryFn: ({ signal }): Promise<Checkpoint[]> =>
      call("get", "/api/v1/runs/{run_id}/checkpoints", { path: { run_id: id }, signal }),
  });

export const replaysQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "replays"],
    queryFn: ({ signal }): Promise<Replay[]> =>
      call("get", "/api/v1/runs/{run_id}/replays", { path: { run_id: id }, signal }),
  });

/** What the agent thought in a replay; the file is part of its name, since a replay that is told again has another. */
export const trackQuery = ({ id, track_file_id }: Pick<Replay, "id" | "track_file_id">) =>
  queryOptions({
    queryKey: ["track", id, track_file_id],
    queryFn: ({ signal }): Promise<Track> =>
      call("get", "/api/v1/replays/{replay_id}/track", { path: { replay_id: id }, signal }),
    enabled: track_file_id !== null,
    ...FOR_EVER,
  });

/** Where the saliency of a replay stands, once it was asked for; told anew with the run's replays. */
export const saliencyQuery = ({ id, run_id, saliency_asked }: Replay) =>
  queryOptions({
    queryKey: ["run", run_id, "replays", id, "saliency"],
    queryFn: ({ signal }): Promise<Saliency> =>
      call("get", "/api/v1/replays/{replay_id}/saliency", { path: { replay_id: id }, signal }),
    enabled: saliency_asked,
  });

export const saliencyMapsQuery = (replay: number, file: number | null) =>
  queryOptions({
    queryKey: ["saliency", replay, file],
    queryFn: ({ signal }): Promise<SaliencyMaps> =>
      call("get", "/api/v1/replays/{replay_id}/saliency/maps", { path: { replay_id: replay }, signal }),
    enabled: file !== null,
    ...FOR_EVER,
  });

/** Where a live game stands; asked again and again until it plays, since a worker may be long in coming. */
export const liveGameQuery = (run: number, id: number) =>
  queryOptions({
    queryKey: ["run", run, "live", id],
    queryFn: ({ signal }): Promise<LiveGame> =>
      call("get", "/api/v1/live/{live_id}", { path: { live_id: id }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === "queued" ? 2_000 : 10_000),
  });

/** Where a game that people play stands. */
export const playQuery = (slug: string, id: number) =>
  queryOptions({
    queryKey: ["play", slug, id],
    queryFn: ({ signal }): Promise<PlayedGame> =>
      call("get", "/api/v1/games/{slug}/play/{play_id}", { path: { slug, play_id: id }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === "queued" ? 2_000 : 10_000),
  });

/** The games that people have played and keep, the newest first. */
export const keptGamesQuery = (env: string) =>
  queryOptions({
    queryKey: ["play", "kept", env],
    queryFn: ({ signal }): Promise<KeptGame[]> =>
      call("get", "/api/v1/kept-games", { query: { env }, signal }),
  });

/** A run's recordings that were asked for, the latest first. */
export const recordingsQuery = (id: number) =>
  queryOptions({
    queryKey: ["run", id, "recordings"],
    queryFn: ({ signal }): Promise<Recording[]> =>
      call("get", "/api/v1/runs/{run_id}/recordings", { path: { run_id: id }, signal }),
  });

/** A run's evaluations without their episodes, the latest asked for first. */
export const evaluationsQuery = (run: number) =>
  infiniteQueryOptions({
    queryKey: ["run", run, "evaluations", "list"],
    queryFn: ({ pageParam, signal }): Promise<EvaluationPage> =>
      call("get", "/api/v1/runs/{run_id}/evaluations", {
        path: { run_id: run },
        query: { limit: PAGE, cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });

/** As many evaluations as one answer may hold, for a table to take away. */
export const fetchEvaluations = (run: number): Promise<EvaluationPage> =>
  call("get", "/api/v1/runs/{run_id}/evaluations", { path: { run_id: run }, query: { limit: 1000 } });

export const evaluationQuery = (run: number, id: number) =>
  queryOptions({
    queryKey: ["run", run, "evaluations", id],
    queryFn: ({ signal }): Promise<EvaluationWithEpisodes> =>
      call("get", "/api/v1/evaluations/{evaluation_id}", { path: { evaluation_id: id }, signal }),
  });

/** How many of an evaluation's episodes came to which score. */
export const scoresFigureQuery = (run: number, id: number) =>
  queryOptions({
    queryKey: ["run", run, "evaluations", id, "figure"],
    meta: figureAt("/figures/evaluation-scores", { evaluation: id }),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/figures/evaluation-scores", { query: { evaluation: id }, signal }),
  });

/** How a run can be evaluated; asked anew for each form, since sets of start points come and go. */
export const evaluationChoicesQuery = (run: number) =>
  queryOptions({
    queryKey: ["run", run, "evaluation-choices"],
    queryFn: ({ signal }): Promise<EvaluationChoices> =>
      call("get", "/api/v1/runs/{run_id}/evaluation-choices", { path: { run_id: run }, signal }),
    staleTime: 0,
  });

/** The stored sets of start points of a game, the newest first. */
export const startSetsQuery = (env: string) =>
  queryOptions({
    queryKey: ["start-sets", env],
    queryFn: ({ signal }): Promise<StartSet[]> =>
      call("get", "/api/v1/start-sets", { query: { env }, signal }),
  });

/** One page of a log; a tail keeps its own lines and asks from the last id on. */
export const fetchLog = (id: number, query: LogQuery, signal?: AbortSignal): Promise<LogPage> =>
  call("get", "/api/v1/runs/{run_id}/log", { path: { run_id: id }, query, signal });

/** One metric of some runs, or some of one run, as lines or shares of their sum; fetched again, only what is new comes. */
export const figureQuery = (
  runs: readonly number[],
  metrics: readonly string[],
  shares: boolean,
  query: FigureLookQuery,
) =>
  queryOptions({
    queryKey: ["figure", metrics, { runs, shares, ...query }],
    meta: curvesAt(runs, metrics, shares, query),
    queryFn: async ({ signal, client, queryKey }): Promise<Figure> => {
      const held = client.getQueryData<Figure>(queryKey);
      const after = held?.cursor;
      const answer: Figure = await (metrics.length === 1
        ? call("get", "/api/v1/figures/curves", {
            query: { ...curvesOf(runs, metrics, query), after },
            signal,
          })
        : call("get", "/api/v1/figures/together", {
            query: { ...togetherOf(runs, metrics, shares, query), after },
            signal,
          }));
      return grown(held, answer);
    },
    placeholderData: keepPreviousData,
    enabled: runs.length > 0,
  });

const curvesOf = (runs: readonly number[], [metric]: readonly string[], query: FigureLookQuery) => ({
  runs: runs.join(","),
  ...query,
  metric,
});

/** Figures of several metrics know less. */
const togetherOf = (
  runs: readonly number[],
  metrics: readonly string[],
  shares: boolean,
  { x, from, to, smoothing, buckets, x_log, y_log }: FigureLookQuery,
) => ({
  runs: runs.join(","),
  x,
  from,
  to,
  smoothing,
  buckets,
  x_log,
  y_log,
  metrics: metrics.join(","),
  shares,
});

function curvesAt(
  runs: readonly number[],
  metrics: readonly string[],
  shares: boolean,
  query: FigureLookQuery,
): FigureAddress {
  if (metrics.length === 1) return figureAt("/figures/curves", curvesOf(runs, metrics, query));
  return figureAt("/figures/together", togetherOf(runs, metrics, shares, query));
}

/** Scores of a run's evaluations over its training; live/refresh.ts has it fetched again with the evaluations. */
export const evaluationsFigureQuery = (run: number, query: EvaluationsFigureQuery) =>
  queryOptions({
    queryKey: ["figure", "evaluations", { runs: [run], ...query }],
    meta: figureAt("/figures/evaluations", { runs: run, ...query }),
    queryFn: async ({ signal, client, queryKey }): Promise<Figure> => {
      const held = client.getQueryData<Figure>(queryKey);
      const named = { runs: String(run), ...query, after: held?.cursor };
      return grown(held, await call("get", "/api/v1/figures/evaluations", { query: named, signal }));
    },
    placeholderData: keepPreviousData,
  });

export const gamesQuery = queryOptions({
  queryKey: ["games"],
  queryFn: ({ signal }): Promise<Games> => call("get", "/api/v1/games", { signal }),
});

export const gameQuery = (slug: string) =>
  queryOptions({
    queryKey: ["games", slug],
    queryFn: ({ signal }): Promise<Game> => call("get", "/api/v1/games/{slug}", { path: { slug }, signal }),
  });

/** The scores of one table of a game as bars. */
export const gameFigureQuery = (slug: string, protocol: string, starts: string | null) =>
  queryOptions({
    queryKey: ["games", slug, "figure", { protocol, starts }],
    meta: figureAt(`/games/${slug}/figure`, { protocol, starts }),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/games/{slug}/figure", { path: { slug }, query: { protocol, starts }, signal }),
    placeholderData: keepPreviousData,
  });

export const configSchemaQuery = queryOptions({
  queryKey: ["config-schema"],
  queryFn: ({ signal }): Promise<Record<string, unknown>> => call("get", "/api/v1/config-schema", { signal }),
  ...FOR_EVER,
});

export const metricCatalogueQuery = queryOptions({
  queryKey: ["metric-catalogue"],
  queryFn: ({ signal }): Promise<MetricSection[]> => call("get", "/api/v1/metric-catalogue", { signal }),
  ...FOR_EVER,
});

export const presetsQuery = queryOptions({
  queryKey: ["presets"],
  queryFn: ({ signal }): Promise<Preset[]> => call("get", "/api/v1/presets", { signal }),
  ...FOR_EVER,
});

export const environmentsQuery = queryOptions({
  queryKey: ["environments"],
  queryFn: ({ signal }): Promise<Environment[]> => call("get", "/api/v1/environments", { signal }),
  ...FOR_EVER,
});

export const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }): Promise<Worker[]> => call("get", "/api/v1/workers", { signal }),
});

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }): Promise<Health> => call("get", "/api/v1/health", { signal }),
});

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }): Promise<Session> => call("get", "/api/v1/session", { signal }),
  staleTime: 60_000,
});
