import { call } from "./client";
import { useApiMutation } from "./requests";
import { type RunAction, runKeys } from "./runs";
import type { StudyAction } from "./studies";
import type { BulkAction, BulkRequest, SkippedRun } from "./types";

/** Runs per request; the server accepts no more. */
const BULK_LIMIT = 10_000;
/** Skipped runs per request. */
const SKIPPED_LIMIT = 1000;

/** The outcome of an action on some runs. */
export interface BulkResult {
  done: number[];
  skipped: SkippedRun[];
  /** The action that the server still applies to the next runs. */
  started?: number;
}

interface ActOnAll {
  action: BulkRequest["action"];
  ids: readonly number[];
  /** Tags to add or remove. */
  tags?: string[];
  /** Called after each response with the number of runs that are done or skipped. */
  onProgress?: (handled: number) => void;
  /** The outcome so far, updated by each call, so that a retry continues after the last response. */
  result?: BulkResult;
}

async function actOnAll({ action, ids, tags = [], onProgress, ...earlier }: ActOnAll): Promise<BulkResult> {
  const { result = { done: [], skipped: [] } } = earlier;
  const handled = new Set([...result.done, ...result.skipped.map(({ id }) => id)]);
  const left = ids.filter((id) => !handled.has(id));
  for (let from = 0; from < left.length; from += BULK_LIMIT) {
    const chosen = left.slice(from, from + BULK_LIMIT);
    const before = result.done.length + result.skipped.length;
    result.started ??= (
      await call("post", "/api/v1/bulk-actions", { body: { action, ids: chosen, tags, exclude: [] } })
    ).id;
    const ended = await waitForEnd(result.started, (count) => onProgress?.(before + count));
    const skipped = await readSkipped(result.started);
    delete result.started;
    if (ended.state === "cancelled")
      throw new Error(ended.message ?? "The action was canceled before it reached all runs.");
    const isSkipped = new Set(skipped.map(({ id }) => id));
    result.done.push(...chosen.filter((id) => !isSkipped.has(id)));
    result.skipped.push(...skipped);
  }
  return result;
}

async function waitForEnd(bulk_id: number, onProgress: (handled: number) => void) {
  for (;;) {
    const query = { wait: "finished" as const, timeout: 30 };
    const action = await call("get", "/api/v1/bulk-actions/{bulk_id}", {
      params: { path: { bulk_id }, query },
    });
    onProgress(action.done + action.skipped);
    if (action.state !== "running") return action;
  }
}

async function readSkipped(bulk_id: number): Promise<SkippedRun[]> {
  const skipped: SkippedRun[] = [];
  for (;;) {
    const query = { after: skipped.at(-1)?.id ?? 0, limit: SKIPPED_LIMIT };
    const path = "/api/v1/bulk-actions/{bulk_id}/skipped";
    const { items } = await call("get", path, { params: { path: { bulk_id }, query } });
    skipped.push(...items);
    if (items.length < SKIPPED_LIMIT) return skipped;
  }
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
