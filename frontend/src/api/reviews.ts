import { call } from "./client";
import { showsJobs } from "./jobs";
import { replayKeys } from "./replays";
import { apiQuery, useApiMutation } from "./requests";
import { ofJobs } from "./topics";
import type { Replay, ReviewOptions } from "./types";

type OfReplay = Pick<Replay, "id" | "run_id">;

const keyOf = ({ run_id, id }: OfReplay) => [...replayKeys.list(run_id), id, "reviews"] as const;

/** The review of a replay with what it has found so far: a list of none or one. */
export const reviewsQuery = (replay: OfReplay) =>
  apiQuery(
    keyOf(replay),
    "/api/v1/replays/{replay_id}/reviews",
    { path: { replay_id: replay.id } },
    showsJobs(ofJobs("review", { run_id: replay.run_id })),
  );

/** Queue a review of a replay, or continue it with more decisions. */
export function useRequestReview(replay: OfReplay) {
  return useApiMutation(
    (body: Partial<ReviewOptions>) =>
      call("post", "/api/v1/replays/{replay_id}/reviews", {
        params: { path: { replay_id: replay.id } },
        body,
      }),
    { refetch: [keyOf(replay)], refetchOnError: true },
  );
}

/** Stop a review. What it has found is kept. */
export function useStopReview(replay: OfReplay) {
  return useApiMutation(
    (id: number) =>
      call("post", "/api/v1/reviews/{review_id}/cancel", { params: { path: { review_id: id } } }),
    { refetch: [keyOf(replay)], refetchOnError: true },
  );
}

export function useDeleteReview(replay: OfReplay) {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/reviews/{review_id}", { params: { path: { review_id: id } } }),
    { refetch: [keyOf(replay)], refetchOnError: true },
  );
}
