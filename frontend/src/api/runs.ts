import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { byProject } from "./projectFilter";
import { readRunPage } from "./runPages";
import { LIST_SECONDS, live, ofAny, ofJobs, ofRuns, SELDOM_SECONDS } from "./topics";
import type {
  LaunchRequest,
  ListedGroup,
  QueryOf,
  Run,
  RunConfig,
  RunEdit,
  RunForecast,
  RunPage,
} from "./types";

export type RunListQuery = Omit<QueryOf<"/api/v1/runs">, "limit" | "cursor" | "offset">;
export type FailuresQuery = QueryOf<"/api/v1/run-failures">;
export type GroupsQuery = Omit<QueryOf<"/api/v1/run-groups">, "value" | "limit" | "offset" | "baseline">;

export type ExpressionKind = NonNullable<QueryOf<"/api/v1/run-expression">["kind"]>;

const GROUP_VALUES = ["return", "best_return"];

/** Runs per request. */
export const RUN_PAGE_SIZE = 100;

export const runKeys = {
  lists: ["runs"] as const,
  list: (query: RunListQuery) => [...runKeys.lists, query] as const,
  page: (query: RunListQuery, page: number) => [...runKeys.lists, query, { page }] as const,
  allFacets: ["run-facets"] as const,
  facets: (archived: boolean, project: string | null) =>
    [...runKeys.allFacets, { archived, project }] as const,
  groups: (query: GroupsQuery) => [...runKeys.allFacets, "groups", query] as const,
  baselineGroup: (query: GroupsQuery, baseline: number) =>
    [...runKeys.allFacets, "baseline group", query, baseline] as const,
  ofGroup: (query: RunListQuery, limit: number) =>
    [...runKeys.allFacets, "runs of a group", query, limit] as const,
  settings: (query: FailuresQuery, every: boolean) =>
    [...runKeys.allFacets, "settings", query, every] as const,
  expressions: (expression: string, cursor: number, kind: ExpressionKind) =>
    ["run-expression", { expression, cursor, kind }] as const,
  failures: (query: FailuresQuery) => [...runKeys.allFacets, "failures", query] as const,
  /** A run with everything in it: checkpoints, replays, evaluations and so on. */
  everythingOf: (id: number) => ["run", id] as const,
  detail: (id: number) => [...runKeys.everythingOf(id), "detail"] as const,
  forecast: (request: LaunchRequest) => ["run-forecasts", request] as const,
  named: (ids: readonly number[]) => ["named-runs", ids] as const,
};

/** Notices that may change a list of runs, and the best score of a run. */
const TOPICS = [
  ...ofAny("run.changed", "run.removed", "run.files", "projects.changed"),
  ...ofJobs("evaluation"),
];

export const runListQuery = (query: RunListQuery) =>
  infiniteQueryOptions({
    queryKey: runKeys.list(query),
    ...live([...TOPICS, ...(showsMetrics(query) ? ofAny("run.metrics") : [])], LIST_SECONDS),
    queryFn: ({ pageParam, signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", {
        params: { query: { ...query, limit: RUN_PAGE_SIZE, cursor: pageParam } },
        signal,
      }).then(readRunPage),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });

/** A page of the list by its number, from 0. */
export const runPageQuery = (query: RunListQuery, page: number) =>
  queryOptions({
    queryKey: runKeys.page(query, page),
    ...live([...TOPICS, ...(showsMetrics(query) ? ofAny("run.metrics") : [])], LIST_SECONDS),
    queryFn: ({ signal }): Promise<RunPage> => {
      const place = page > 0 ? { offset: page * RUN_PAGE_SIZE } : {};
      return call("get", "/api/v1/runs", {
        params: { query: { ...query, limit: RUN_PAGE_SIZE, ...place } },
        signal,
      }).then(readRunPage);
    },
  });

const showsMetrics = ({ metric = [], compute = [] }: RunListQuery) => metric.length + compute.length > 0;

/** Requirements of a run, resources of the workers, and the expected start. */
export const runForecastQuery = (request: LaunchRequest) =>
  queryOptions({
    queryKey: runKeys.forecast(request),
    ...live(ofAny("worker.changed"), LIST_SECONDS),
    queryFn: ({ signal }): Promise<RunForecast> =>
      call("post", "/api/v1/runs/preview", { body: request, signal }),
    retry: false,
  });

const FACETS = {
  ...live(ofAny("run.changed", "run.removed", "projects.changed"), SELDOM_SECONDS),
  placeholderData: keepPreviousData,
};

/** Filter values of the run list, over all runs of a project and not only the loaded ones. */
export const facetsQuery = (archived: boolean, project: string | null = null) =>
  apiQuery(
    runKeys.facets(archived, project),
    "/api/v1/run-facets",
    { query: { archived, ...byProject(project) } },
    FACETS,
  );

/** Groups of runs with equal values of a field, with statistics of their returns. */
export const runGroupsQuery = (query: GroupsQuery) =>
  apiQuery(
    runKeys.groups(query),
    "/api/v1/run-groups",
    { query: { ...query, value: GROUP_VALUES, limit: RUN_PAGE_SIZE } },
    FACETS,
  );

/** The group of a run, or null if the query leaves the run out. */
export const baselineGroupQuery = (query: GroupsQuery, baseline: number) => ({
  ...apiQuery(
    runKeys.baselineGroup(query, baseline),
    "/api/v1/run-groups",
    { query: { ...query, value: GROUP_VALUES, limit: 1, baseline } },
    FACETS,
  ),
  select: ({ baseline: group }: { baseline: ListedGroup | null }) => group,
});

/** The first runs of a group. */
export const groupRunsQuery = (query: RunListQuery, limit = RUN_PAGE_SIZE) =>
  queryOptions({
    queryKey: runKeys.ofGroup(query, limit),
    ...FACETS,
    queryFn: ({ signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", { params: { query: { ...query, limit } }, signal }).then(readRunPage),
  });

/** Settings of the listed runs that differ, or all. */
export const runSettingsQuery = (query: FailuresQuery, every = false) =>
  apiQuery(
    runKeys.settings(query, every),
    "/api/v1/run-settings",
    { query: every ? { ...query, every } : query },
    FACETS,
  );

/** Error of an expression, and completions at the cursor. */
export const expressionQuery = (expression: string, cursor: number, kind: ExpressionKind) =>
  apiQuery(
    runKeys.expressions(expression, cursor, kind),
    "/api/v1/run-expression",
    { query: { expression, cursor, kind } },
    { staleTime: 30_000 },
  );

/** Failures that several runs of a list share, over the whole list. */
export const failuresQuery = (query: FailuresQuery) =>
  apiQuery(runKeys.failures(query), "/api/v1/run-failures", { query }, FACETS);

export const runQuery = (id: number) =>
  queryOptions({
    queryKey: runKeys.detail(id),
    ...live([
      ...ofRuns([id], "run.changed", "run.removed", "run.files"),
      ...ofJobs("evaluation", { run_id: id }),
      ...ofAny("projects.changed"),
    ]),
    queryFn: ({ signal }): Promise<Run> =>
      call("get", "/api/v1/runs/{run_id}", { params: { path: { run_id: id } }, signal }),
  });

/** Some runs by their numbers, at most one page. */
export const namedRunsQuery = (ids: readonly number[]) =>
  queryOptions({
    queryKey: runKeys.named(ids),
    queryFn: ({ signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", { params: { query: { id: [...ids], limit: RUN_PAGE_SIZE } }, signal }).then(
        readRunPage,
      ),
    staleTime: Infinity,
    gcTime: 0,
  });

function settle(client: QueryClient, run: Run): void {
  client.setQueryData(runQuery(run.id).queryKey, run);
  void client.invalidateQueries({ queryKey: runKeys.lists });
}

export function useLaunchRun() {
  return useApiMutation((body: LaunchRequest): Promise<Run> => call("post", "/api/v1/runs", { body }), {
    ownErrors: true,
    onDone: settle,
  });
}

export type RunAction = "stop" | "pause" | "resume" | "archive" | "restore";

export function useRunAction() {
  return useApiMutation(
    ({ id, action }: { id: number; action: RunAction }): Promise<Run> =>
      call("post", `/api/v1/runs/{run_id}/${action}`, { params: { path: { run_id: id } } }),
    { ownErrors: true, onDone: settle },
  );
}

/** Send an action while the page unloads. The response is ignored. */
export function sendOnUnload(id: number, action: RunAction): void {
  const params = { path: { run_id: id } };
  call("post", `/api/v1/runs/{run_id}/${action}`, { params, keepalive: true }).catch(() => undefined);
}

interface EditCallbacks {
  onSaved?: (edit: RunEdit) => void;
  /** Replaces the notification of an error. */
  onFailed?: (error: Error) => void;
}

/** Edit a run. Edits are sent one after another. The callbacks are called even if the user has left the page. */
export function useEditRun(id: number, { onSaved, onFailed }: EditCallbacks = {}) {
  return useApiMutation(
    (body: RunEdit): Promise<Run> =>
      call("patch", "/api/v1/runs/{run_id}", { params: { path: { run_id: id } }, body }),
    {
      scope: { id: `edit-run-${id}` },
      ...(onFailed && { ownErrors: true, onError: onFailed }),
      onDone: (client, run, edit) => {
        onSaved?.(edit);
        return settle(client, run);
      },
    },
  );
}

export function useCloneRun() {
  return useApiMutation(
    ({ id, ...body }: { id: number; name?: string; overrides?: RunConfig }): Promise<Run> =>
      call("post", "/api/v1/runs/{run_id}/clone", { params: { path: { run_id: id } }, body }),
    { onDone: settle },
  );
}

interface Fork {
  id: number;
  checkpoint_id: number;
  name?: string;
  overrides?: RunConfig;
}

export function useForkRun() {
  return useApiMutation(
    ({ id, ...body }: Fork): Promise<Run> =>
      call("post", "/api/v1/runs/{run_id}/fork", { params: { path: { run_id: id } }, body }),
    { ownErrors: true, onDone: settle },
  );
}

/** Permanently delete a run with its points and files. `onPurged` is called even if the user has left the page. */
export function usePurgeRun(onPurged: (id: number) => void) {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/runs/{run_id}", { params: { path: { run_id: id } } }),
    { onDone: (_client, _, id) => onPurged(id), refetch: [runKeys.lists] },
  );
}
