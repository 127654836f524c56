import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { showsJobs } from "./jobs";
import { replayKeys } from "./replays";
import { apiQuery, type RequestError, useApiMutation } from "./requests";
import { runKeys } from "./runs";
import { ofJobs } from "./topics";
import type { PracticeOptions, PracticePreview, Review } from "./types";

type OfReview = Pick<Review, "id" | "replay_id" | "run_id">;

export const practiceKeys = {
  list: ({ run_id, replay_id }: OfReview) => [...replayKeys.list(run_id), replay_id, "practices"] as const,
};

/** No event reports each step of the runs of a practice. */
const TRAINING_REFETCH_MS = 5_000;

/** The practice of a review: a list of none or one. */
export function practicesQuery(review: OfReview) {
  const jobs = showsJobs(ofJobs("practice", { run_id: review.run_id }));
  return apiQuery(
    practiceKeys.list(review),
    "/api/v1/reviews/{review_id}/practices",
    { path: { review_id: review.id } },
    {
      ...jobs,
      refetchInterval: (query) =>
        query.state.data?.some(({ state, stage }) => state === "running" && stage === "training")
          ? TRAINING_REFETCH_MS
          : jobs.refetchInterval(query),
    },
  );
}

/** What a practice would cost. */
export const practicePreviewQuery = (review: OfReview, options: Partial<PracticeOptions>) =>
  queryOptions<PracticePreview, RequestError>({
    queryKey: [...practiceKeys.list(review), "preview", options],
    queryFn: ({ signal }) =>
      call("post", "/api/v1/reviews/{review_id}/practices/preview", {
        params: { path: { review_id: review.id } },
        body: options,
        signal,
      }),
    retry: false,
  });

/** Start a practice, or continue one that was stopped, with the same options. */
export function useStartPractice(review: OfReview) {
  return useApiMutation(
    (body: Partial<PracticeOptions>) =>
      call("post", "/api/v1/reviews/{review_id}/practices", {
        params: { path: { review_id: review.id } },
        body,
      }),
    { refetch: [practiceKeys.list(review), runKeys.lists], refetchOnError: true },
  );
}
