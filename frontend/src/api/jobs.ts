import { live, type Topic } from "./topics";
import type { Evaluation } from "./types";

/** The fields that all kinds of jobs have. */
export type Job = Pick<
  Evaluation,
  "job_id" | "state" | "reason" | "traceback" | "done" | "total" | "created_at" | "started_at" | "finished_at"
>;

/** Return true if a job waits or is in progress. */
export const isUnfinished = ({ state }: { state: Job["state"] }) => state === "queued" || state === "running";

/** The reason why a job waits depends on the time, which no event reports. */
const QUEUED_REFETCH_MS = 10_000;

/** Options of a query whose data shows jobs, at any depth. */
export const showsJobs = (topics: readonly Topic[], every = 0) => ({
  ...live(topics, every),
  refetchInterval: ({ state }: { state: { data?: unknown } }) =>
    hasQueuedJob(state.data) ? QUEUED_REFETCH_MS : (false as const),
});

/** Return true if the data of a query has a job that waits. */
function hasQueuedJob(data: unknown): boolean {
  if (typeof data !== "object" || data === null) return false;
  if ("job_id" in data) return (data as Job).state === "queued";
  return Object.values(data).some(hasQueuedJob);
}
