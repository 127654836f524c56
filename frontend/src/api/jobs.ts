import type { QueryClient, QueryKey } from "@tanstack/react-query";
import type { Evaluation, JobKind } from "./types";

/** The fields that all kinds of jobs have. */
export type Job = Pick<
  Evaluation,
  "job_id" | "state" | "reason" | "traceback" | "done" | "total" | "created_at" | "started_at" | "finished_at"
>;

/** State and progress of a job, as the event job.changed has them. */
export interface JobNotice {
  id: number;
  run_id: number | null;
  kind: JobKind;
  state: Job["state"] | "removed";
  done: number;
  total: number;
}

/** Return true if a job waits or is in progress. */
export const isUnfinished = ({ state }: { state: JobNotice["state"] }) =>
  state === "queued" || state === "running";

/** The reason why a job waits depends on the time, which no event reports. */
const QUEUED_REFETCH_MS = 10_000;

interface ShowsJobs {
  jobs: JobKind;
  /** True if the data has results of running jobs, such as finished episodes. */
  partial: boolean;
}

/**
 * Options of a query whose data shows jobs of a kind, at any depth. Events update their progress in the cache. The
 * query is fetched again when more than the progress of a job changed.
 */
export const showsJobs = (jobs: JobKind, partial = false) => ({
  meta: { jobs, partial } satisfies ShowsJobs,
  refetchInterval: ({ state }: { state: { data?: unknown } }) =>
    jobsIn(state.data).some((job) => job.state === "queued") ? QUEUED_REFETCH_MS : (false as const),
});

type ShownJob = Pick<Job, "job_id" | "state" | "done" | "total">;

const isJob = (data: object): data is ShownJob => "job_id" in data;

/** Return the jobs in the data of a query. */
function jobsIn(data: unknown): ShownJob[] {
  if (typeof data !== "object" || data === null) return [];
  return isJob(data) ? [data] : Object.values(data).flatMap(jobsIn);
}

/** Return a copy of the data of a query with a change of one of its jobs. */
function changeJob(data: unknown, id: number, change: Partial<ShownJob>): unknown {
  if (typeof data !== "object" || data === null) return data;
  if (isJob(data)) return data.job_id === id ? { ...data, ...change } : data;
  if (Array.isArray(data)) return data.map((each) => changeJob(each, id, change));
  return Object.fromEntries(Object.entries(data).map(([name, each]) => [name, changeJob(each, id, change)]));
}

/** Show the progress of a job in all queries. Return the keys of the queries to fetch again. */
export function applyJob(
  client: QueryClient,
  { id, run_id, kind, state, done, total }: JobNotice,
): QueryKey[] {
  const stale: QueryKey[] = [];
  const queries = client.getQueryCache().findAll({ predicate: ({ meta }) => meta?.["jobs"] !== undefined });
  for (const { queryKey, meta, state: query } of queries) {
    const jobs = jobsIn(query.data);
    const shown = meta?.["jobs"] === kind ? jobs.find((job) => job.job_id === id) : undefined;
    if (shown === undefined) {
      // It may be new, or a queued job may wait for it. Futures may be simulated by the agent of another run.
      const isNew = meta?.["jobs"] === kind && (queryKey.includes(run_id) || kind === "futures");
      const mayWait = state !== "running" && jobs.some((job) => job.state === "queued");
      if (isNew || mayWait) stale.push(queryKey);
      continue;
    }
    // A notice without a change of the progress announces another change, such as a warning.
    const isProgress = shown.state === state && (shown.done !== done || shown.total !== total);
    if (!isProgress || meta?.["partial"] === true) stale.push(queryKey);
    // The result of a query that is fetched again is newer. To set its data would mark it as up to date.
    if (state === "removed" || query.isInvalidated || !isUnfinished(shown)) continue;
    const data = changeJob(query.data, id, { state, done, total });
    client.setQueryData(queryKey, data, { updatedAt: query.dataUpdatedAt });
  }
  return stale;
}
