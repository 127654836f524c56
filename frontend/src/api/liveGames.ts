import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { runKeys } from "./runs";
import { gameKeys } from "./games";
import { live, ofAny, ofJobs } from "./topics";

const QUEUED_REFETCH_MS = 2_000;
const PLAYING_REFETCH_MS = 10_000;

export const liveGameKeys = {
  ofRun: (run: number) => [...runKeys.everythingOf(run), "live"] as const,
  watched: (run: number, id: number) => [...liveGameKeys.ofRun(run), id] as const,
  played: (slug: string, id: number) => ["play", slug, id] as const,
  continued: (replay: number, id: number) => ["play", "replay", replay, id] as const,
  allKept: ["play", "kept"] as const,
  keptOfReplay: (replay: number) => [...liveGameKeys.allKept, "replay", replay] as const,
  kept: (env: string) => [...liveGameKeys.allKept, env] as const,
};

// The live stream does not report every change of a queued game, so these queries poll.
const refetchInterval = ({ state }: { state: { data?: { state: string } } }) =>
  state.data?.state === "queued" ? QUEUED_REFETCH_MS : PLAYING_REFETCH_MS;

const PLAYED = live(ofAny("play.changed"));

/** A live game of a run's agent. */
export const liveGameQuery = (run: number, id: number) =>
  apiQuery(
    liveGameKeys.watched(run, id),
    "/api/v1/live/{live_id}",
    { path: { live_id: id } },
    { ...live(ofJobs("live", { run_id: run })), refetchInterval },
  );

/** A live game that people play. */
export const playQuery = (slug: string, id: number) =>
  apiQuery(
    liveGameKeys.played(slug, id),
    "/api/v1/games/{slug}/play/{play_id}",
    { path: { slug, play_id: id } },
    { ...PLAYED, refetchInterval },
  );

/** A live game in which a person continues a replay. */
export const continuedPlayQuery = (replay: number, id: number) =>
  apiQuery(
    liveGameKeys.continued(replay, id),
    "/api/v1/replays/{replay_id}/play/{play_id}",
    { path: { replay_id: replay, play_id: id } },
    { ...PLAYED, refetchInterval },
  );

/** Saved games that continue a replay, newest first. */
export const keptGamesOfReplayQuery = (replay: number) =>
  apiQuery(liveGameKeys.keptOfReplay(replay), "/api/v1/kept-games", { query: { replay_id: replay } }, PLAYED);

/** Saved games that people played, newest first. */
export const keptGamesQuery = (env: string) =>
  apiQuery(liveGameKeys.kept(env), "/api/v1/kept-games", { query: { env } }, PLAYED);

/** Start a live game of a run's agent, or join the one that others watch. */
export function useWatchLive(run: number) {
  return useApiMutation(
    (checkpoint: number | "newest") =>
      call("post", "/api/v1/runs/{run_id}/live", {
        params: { path: { run_id: run } },
        body: { checkpoint },
      }),
    {
      ownErrors: true,
      onDone: (client, game) => client.setQueryData(liveGameKeys.watched(run, game.id), game),
    },
  );
}

/** Start a live game that people play. */
export function usePlayGame(slug: string) {
  return useApiMutation(
    (project: string) =>
      call("post", "/api/v1/games/{slug}/play", { params: { path: { slug }, query: { project } } }),
    {
      ownErrors: true,
      onDone: (client, game) => client.setQueryData(liveGameKeys.played(slug, game.id), game),
    },
  );
}

/** Start a live game in which a person continues a replay from a decision. */
export function useContinueReplay(replay: number) {
  return useApiMutation(
    (decision: number) =>
      call("post", "/api/v1/replays/{replay_id}/play", {
        params: { path: { replay_id: replay } },
        body: { decision },
      }),
    {
      ownErrors: true,
      onDone: (client, game) => client.setQueryData(liveGameKeys.continued(replay, game.id), game),
    },
  );
}

export function useDeleteKeptGame() {
  return useApiMutation(
    (id: number) => call("delete", "/api/v1/kept-games/{kept_id}", { params: { path: { kept_id: id } } }),
    { refetch: [liveGameKeys.allKept, gameKeys.all] },
  );
}
