import { call } from "./client";
import { useApiMutation } from "./requests";
import { type RunAction, runKeys } from "./runs";
import type { StudyAction } from "./studies";
import type { BulkAction, BulkRequest, BulkResult } from "./types";

/** Runs per bulk request; the server accepts no more. */
const BULK_LIMIT = 1000;

interface ActOnAll {
  action: BulkRequest["action"];
  ids: readonly number[];
  /** Tags to add or remove. */
  tags?: string[];
  /** Called after each request with the number of runs that are done or skipped. */
  onProgress?: (handled: number) => void;
  /** The outcome so far, updated by each call, so that a retry continues after the last response. */
  result?: BulkResult;
}

async function actOnAll({ action, ids, tags, onProgress, ...earlier }: ActOnAll): Promise<BulkResult> {
  const { result = { done: [], skipped: [] } } = earlier;
  const handled = new Set([...result.done, ...result.skipped.map(({ id }) => id)]);
  const left = ids.filter((id) => !handled.has(id));
  for (let from = 0; from < left.length; from += BULK_LIMIT) {
    const body = { action, ids: left.slice(from, from + BULK_LIMIT), ...(tags && { tags }) };
    const { done, skipped } = await call("post", "/api/v1/runs/bulk", { body });
    result.done.push(...done);
    result.skipped.push(...skipped);
    onProgress?.(result.done.length + result.skipped.length);
  }
  return result;
}

export function useBulkAction() {
  return useApiMutation(actOnAll, { ownErrors: true, refetch: [runKeys.lists, runKeys.allFacets] });
}

/** An action in a form that the browser can store. */
export type ActionRequest =
  | { target: "run"; id: number; action: RunAction }
  | { target: "study"; id: number; action: StudyAction }
  | { target: "runs"; ids: number[]; action: BulkAction };

/** Send an action that this browser stored. */
export function useStoredAction() {
  return useApiMutation(
    (request: ActionRequest): Promise<unknown> => {
      const { target, action } = request;
      if (target === "runs") return actOnAll(request);
      return target === "run"
        ? call("post", `/api/v1/runs/{run_id}/${action}`, { params: { path: { run_id: request.id } } })
        : call("post", `/api/v1/studies/{study_id}/${action}`, {
            params: { path: { study_id: request.id } },
          });
    },
    { ownErrors: true, onDone: (client) => client.invalidateQueries() },
  );
}
