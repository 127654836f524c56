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

export const reviewKeys = {
  /** The review of a game. Fetched again with the run's replays, or with the kept games. */
  list: (game: ReviewedGame) =>
    "kept" in game
      ? ([...liveGameKeys.allKept, game.kept, "reviews"] as const)
      : ([...replayKeys.list(game.run_id), game.id, "reviews"] as const),
};

/** The review of a replay with what it has found so far: a list of none or one. */
export const reviewsQuery = (replay: OfReplay) =>
  apiQuery(
    reviewKeys.list(replay),
    "/api/v1/replays/{replay_id}/reviews",
    { path: { replay_id: replay.id } },
    showsJobs(ofJobs("review", { run_id: replay.run_id })),
  );

/** The review of a kept game with what it has found so far: a list of none or one. */
export const keptGameReviewsQuery = (kept: number) =>
  apiQuery(
    reviewKeys.list({ kept }),
    "/api/v1/kept-games/{kept_id}/reviews",
    { path: { kept_id: kept } },
    showsJobs(ofJobs("review")),
  );

/** Queue a review of a kept game by the agent of a run, or continue it with more decisions. */
export function useReviewKeptGame(kept: number) {
  return useApiMutation(
    (body: Partial<ReviewKeptGame> & Pick<ReviewKeptGame, "run_id">) =>
      call("post", "/api/v1/kept-games/{kept_id}/reviews", { params: { path: { kept_id: kept } }, body }),
    { refetch: [reviewKeys.list({ kept })], refetchOnError: true },
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
    { refetch: [reviewKeys.list(replay)], refetchOnError: true },
  );
}
