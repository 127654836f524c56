import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { call } from "./client";
import { useApiMutation } from "./requests";
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

/** API paths of jobs that have an id. */
const PATHS = {
  evaluation: "/api/v1/evaluations/{evaluation_id}",
  calibration: "/api/v1/calibrations/{calibration_id}",
  recording: "/api/v1/recordings/{recording_id}",
  futures: "/api/v1/futures/{futures_id}",
  review: "/api/v1/reviews/{review_id}",
  practice: "/api/v1/practices/{practice_id}",
} as const;
type Kind = keyof typeof PATHS;

const initFor = (kind: Kind, id: number) => ({ params: { path: { [`${kind}_id`]: id } } }) as never;

/** Cancel a job by its id. A refusal means that it has already ended. */
export function useCancelJob(kind: Exclude<Kind, "futures">, refetch: readonly QueryKey[]) {
  return useApiMutation(
    (id: number): Promise<unknown> => call("post", `${PATHS[kind]}/cancel`, initFor(kind, id)),
    { refetch, refetchOnError: true },
  );
}

/** Delete a job with its result, or cancel it. `onDone` is called even if the user has left the page. */
export function useDeleteJob(
  kind: Kind,
  refetch: readonly QueryKey[],
  onDone?: (client: QueryClient, result: unknown, id: number) => void,
) {
  return useApiMutation((id: number): Promise<unknown> => call("delete", PATHS[kind], initFor(kind, id)), {
    ...(onDone && { onDone }),
    refetch,
    refetchOnError: true,
  });
}
