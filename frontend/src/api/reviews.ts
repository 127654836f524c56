import { call } from "./client";
import { showsJobs } from "./jobs";
import { replayKeys } from "./replays";
import { apiQuery, useApiMutation } from "./requests";
import { ofJobs } from "./topics";
import { liveGameKeys } from "./liveGames";
import type { Replay, ReviewKeptGame, ReviewOptions } from "./types";

type OfReplay = Pick<Replay, "id" | "run_id">;
interface OfKeptGame {
  kept: number;
}
/** The game of a review: a replay, or a kept game. */
export type ReviewedGame = OfReplay | OfKeptGame;

const keyOf = (game: ReviewedGame) =>
  "kept" in game
    ? ([...liveGameKeys.allKept, game.kept, "reviews"] as const)
    : ([...replayKeys.list(game.run_id), game.id, "reviews"] as const);

/** The review of a replay with what it has found so far: a list of none or one. */
export const reviewsQuery = (replay: OfReplay) =>
  apiQuery(
    keyOf(replay),
    "/api/v1/replays/{replay_id}/reviews",
    { path: { replay_id: replay.id } },
    showsJobs(ofJobs("review", { run_id: replay.run_id })),
  );

/** The review of a kept game with what it has found so far: a list of none or one. */
export const keptGameReviewsQuery = (kept: number) =>
  apiQuery(
    keyOf({ kept }),
    "/api/v1/kept-games/{kept_id}/reviews",
    { path: { kept_id: kept } },
    showsJobs(ofJobs("review")),
  );

/** Queue a review of a kept game by the agent of a run, or continue it with more decisions. */
export function useReviewKeptGame(kept: number) {
  return useApiMutation(
    (body: Partial<ReviewKeptGame> & Pick<ReviewKeptGame, "run_id">) =>
      call("post", "/api/v1/kept-games/{kept_id}/reviews", { params: { path: { kept_id: kept } }, body }),
    { refetch: [keyOf({ kept })], refetchOnError: true },
  );
}

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
export function useStopReview(game: ReviewedGame) {
  return useApiMutation(
    (id: number) =>
      call("post", "/api/v1/reviews/{review_id}/cancel", { params: { path: { review_id: id } } }),
    { refetch: [keyOf(game)], refetchOnError: true },
  );
}

export function useDeleteReview(game: ReviewedGame) {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/reviews/{review_id}", { params: { path: { review_id: id } } }),
    { refetch: [keyOf(game)], refetchOnError: true },
  );
}
