import { call } from "./client";
import { projectKeys } from "./projects";
import { apiQuery, useApiMutation } from "./requests";
import { type FailuresQuery, runKeys } from "./runs";
import type { components } from "./schema";
import { live, ofAny, SELDOM_SECONDS } from "./topics";

type Schema = components["schemas"];
export type BulkActionProgress = Schema["BulkAction"];
export type ActionCounts = Schema["MatchingRuns"];
type Start = Schema["StartBulkAction"];

export const bulkKeys = {
  all: ["bulk-actions"] as const,
  skipped: (id: number) => [...bulkKeys.all, id, "skipped"] as const,
  counts: (query: FailuresQuery) => [...runKeys.allFacets, "actions", query] as const,
};

/** The latest actions on all runs that match a filter, with their progress. */
export const bulkActionsQuery = apiQuery(
  bulkKeys.all,
  "/api/v1/bulk-actions",
  {},
  live(ofAny("bulk.changed")),
);

/** How many of the matching runs allow each action. */
export const actionCountsQuery = (query: FailuresQuery) =>
  apiQuery(
    bulkKeys.counts(query),
    "/api/v1/run-actions",
    { query },
    live(ofAny("run.changed", "run.removed"), SELDOM_SECONDS),
  );

/** The first runs that an action has skipped. */
export const skippedRunsQuery = (id: number) =>
  apiQuery(bulkKeys.skipped(id), "/api/v1/bulk-actions/{bulk_id}/skipped", { path: { bulk_id: id } });

/** Start an action on all runs that match a filter. */
export function useStartBulkAction() {
  return useApiMutation(
    ({ query, ...body }: Partial<Start> & Pick<Start, "action"> & { query: FailuresQuery }) =>
      call("post", "/api/v1/bulk-actions", { params: { query }, body: { tags: [], exclude: [], ...body } }),
    { refetch: [bulkKeys.all] },
  );
}

export function useCancelBulkAction() {
  return useApiMutation(
    (id: number) =>
      call("post", "/api/v1/bulk-actions/{bulk_id}/cancel", { params: { path: { bulk_id: id } } }),
    { refetch: [bulkKeys.all, runKeys.lists, runKeys.allFacets], refetchOnError: true },
  );
}

/** Restore the runs that an action has archived, or archive those that it has restored. */
export function useUndoBulkAction() {
  return useApiMutation(
    (id: number) =>
      call("post", "/api/v1/bulk-actions/{bulk_id}/undo", { params: { path: { bulk_id: id } } }),
    { refetch: [bulkKeys.all, projectKeys.all] },
  );
}
