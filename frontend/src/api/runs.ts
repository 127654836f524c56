import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { byProject } from "./projectFilter";
import { readRunPage } from "./runPages";
import type {
  LaunchRequest,
  ListedGroup,
  ListedRun,
  QueryOf,
  Run,
  RunConfig,
  RunEdit,
  RunForecast,
  RunPage,
} from "./types";

export type RunListQuery = Omit<QueryOf<"/api/v1/runs">, "limit" | "cursor">;
export type FailuresQuery = QueryOf<"/api/v1/run-failures">;
export type GroupsQuery = Omit<QueryOf<"/api/v1/run-groups">, "value" | "limit" | "offset" | "baseline">;

export type ExpressionKind = NonNullable<QueryOf<"/api/v1/run-expression">["kind"]>;

const GROUP_VALUES = ["return", "best_return"];

/** Runs per request. */
export const RUN_PAGE_SIZE = 100;

export const runKeys = {
  lists: ["runs"] as const,
  list: (query: RunListQuery) => [...runKeys.lists, query] as const,
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
  allForecasts: ["run-forecasts"] as const,
  forecast: (request: LaunchRequest) => [...runKeys.allForecasts, request] as const,
  allChanged: ["changed-runs"] as const,
  changed: (ids: readonly number[]) => [...runKeys.allChanged, ids] as const,
};

export const runListQuery = (query: RunListQuery) =>
  infiniteQueryOptions({
    queryKey: runKeys.list(query),
    queryFn: ({ pageParam, signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", {
        params: { query: { ...query, limit: RUN_PAGE_SIZE, cursor: pageParam } },
        signal,
      }).then(readRunPage),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });

/** Requirements of a run, resources of the workers, and the expected start. */
export const runForecastQuery = (request: LaunchRequest) =>
  queryOptions({
    queryKey: runKeys.forecast(request),
    queryFn: ({ signal }): Promise<RunForecast> =>
      call("post", "/api/v1/runs/preview", { body: request, signal }),
    retry: false,
  });

/** Filter values of the run list, over all runs of a project and not only the loaded ones. */
export const facetsQuery = (archived: boolean, project: string | null = null) =>
  apiQuery(
    runKeys.facets(archived, project),
    "/api/v1/run-facets",
    { query: { archived, ...byProject(project) } },
    { placeholderData: keepPreviousData },
  );

/** Groups of runs with equal values of a field, with statistics of their returns. */
export const runGroupsQuery = (query: GroupsQuery) =>
  apiQuery(
    runKeys.groups(query),
    "/api/v1/run-groups",
    { query: { ...query, value: GROUP_VALUES, limit: RUN_PAGE_SIZE } },
    { placeholderData: keepPreviousData },
  );

/** The group of a run, or null if the query leaves the run out. */
export const baselineGroupQuery = (query: GroupsQuery, baseline: number) =>
  queryOptions({
    queryKey: runKeys.baselineGroup(query, baseline),
    queryFn: async ({ signal }): Promise<ListedGroup | null> => {
      const params = { query: { ...query, value: GROUP_VALUES, limit: 1, baseline } };
      return (await call("get", "/api/v1/run-groups", { params, signal })).baseline;
    },
    placeholderData: keepPreviousData,
  });

/** The first runs of a group. */
export const groupRunsQuery = (query: RunListQuery, limit = RUN_PAGE_SIZE) =>
  queryOptions({
    queryKey: runKeys.ofGroup(query, limit),
    queryFn: ({ signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", { params: { query: { ...query, limit } }, signal }).then(readRunPage),
    placeholderData: keepPreviousData,
  });

/** Settings of the listed runs that differ, or all. */
export const runSettingsQuery = (query: FailuresQuery, every = false) =>
  apiQuery(
    runKeys.settings(query, every),
    "/api/v1/run-settings",
    { query: every ? { ...query, every } : query },
    { placeholderData: keepPreviousData },
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
  apiQuery(runKeys.failures(query), "/api/v1/run-failures", { query }, { placeholderData: keepPreviousData });

export const runQuery = (id: number) =>
  queryOptions({
    queryKey: runKeys.detail(id),
    queryFn: ({ signal }): Promise<Run> =>
      call("get", "/api/v1/runs/{run_id}", { params: { path: { run_id: id } }, signal }),
  });

/** Several changed runs in one call, to patch the lists that show them. */
export const changedRunsQuery = (ids: readonly number[]) =>
  queryOptions({
    queryKey: runKeys.changed(ids),
    queryFn: ({ signal }): Promise<RunPage> =>
      call("get", "/api/v1/runs", { params: { query: { id: [...ids], limit: RUN_PAGE_SIZE } }, signal }).then(
        readRunPage,
      ),
    gcTime: 0,
  });

type Pages = InfiniteData<RunPage, string | null>;

/** Replace a run wherever it is shown. Lists keep their order until they are fetched again. */
export function patchRun(client: QueryClient, run: Run): { listed: boolean } {
  client.setQueryData(runQuery(run.id).queryKey, run);
  return patchLists(client, run);
}

/** Replace a run in lists only. A run from a list lacks details that its page shows. */
export function patchLists(client: QueryClient, run: ListedRun): { listed: boolean } {
  let listed = false;
  client.setQueriesData<Pages>({ queryKey: runKeys.lists }, (pages) => {
    if (!pages?.pages.some((page) => page.items.some((item) => item.id === run.id))) return pages;
    listed = true;
    return { ...pages, pages: pages.pages.map((page) => withRun(page, run)) };
  });
  return { listed };
}

/** Keep the values that the list has requested. */
function withRun(page: RunPage, run: ListedRun): RunPage {
  if (!page.items.some((item) => item.id === run.id)) return page;
  return {
    ...page,
    items: page.items.map((item) => {
      if (item.id !== run.id) return item;
      const { metrics, config, computed } = item;
      return { ...run, metrics, config, computed, notes: run.notes ?? item.notes };
    }),
  };
}

/** Return the state of a run as the lists show it, or undefined if no list shows it. */
export function shownState(client: QueryClient, runId: number): string | undefined {
  for (const [, pages] of client.getQueriesData<Pages>({ queryKey: runKeys.lists })) {
    for (const page of pages?.pages ?? []) {
      const run = page.items.find((item) => item.id === runId);
      if (run) return `${run.state} ${run.archived_at ?? ""}`;
    }
  }
  return undefined;
}

/** Return true if a list on screen shows metrics, or columns computed from them. */
export function listsShowMetrics(client: QueryClient): boolean {
  const lists = client.getQueryCache().findAll({ queryKey: runKeys.lists, type: "active" });
  return lists.some(({ queryKey: [, query] }) => {
    const { metric = [], compute = [] } = (query ?? {}) as RunListQuery;
    return metric.length + compute.length > 0;
  });
}

/** Drop a purged run from the cache. An open page keeps its data until its next fetch. */
export function dropRun(client: QueryClient, runId: number): void {
  client.removeQueries({ queryKey: runKeys.everythingOf(runId), type: "inactive" });
  client.setQueriesData<Pages>(
    { queryKey: runKeys.lists },
    (pages) =>
      pages && {
        ...pages,
        pages: pages.pages.map((page) => ({ ...page, items: page.items.filter((run) => run.id !== runId) })),
      },
  );
}

function settle(client: QueryClient, run: Run): void {
  patchRun(client, run);
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
