import { call } from "./client";
import type { LogPage, QueryOf } from "./types";

export type LogQuery = QueryOf<"/api/v1/runs/{run_id}/log">;

/** Fetch one page of a run's log. The log tab keeps its own lines and continues after the last ID. */
export const fetchLog = (run: number, query: LogQuery, signal?: AbortSignal): Promise<LogPage> =>
  call("get", "/api/v1/runs/{run_id}/log", { params: { path: { run_id: run }, query }, signal });
