import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { OWN_ERRORS } from "./mutationState";
import { runKeys } from "./runs";
import type { KeptGame, LiveGame, PlayedGame } from "./types";
import { gameKeys } from "./games";

const QUEUED_REFETCH_MS = 2_000;
const PLAYING_REFETCH_MS = 10_000;

export const liveGameKeys = {
  ofRun: (run: number) => [...runKeys.everythingOf(run), "live"] as const,
  watched: (run: number, id: number) => [...liveGameKeys.ofRun(run), id] as const,
  allPlayed: ["play"] as const,
  played: (slug: string, id: number) => [...liveGameKeys.allPlayed, slug, id] as const,
  continued: (replay: number, id: number) => [...liveGameKeys.allPlayed, "replay", replay, id] as const,
  allKept: ["play", "kept"] as const,
  keptOfReplay: (replay: number) => [...liveGameKeys.allKept, "replay", replay] as const,
  kept: (env: string) => [...liveGameKeys.allKept, env] as const,
};

// The live stream does not report every change of a queued game, so these queries poll.
const refetchInterval = ({ state }: { state: { data?: { state: string } } }) =>
  state.data?.state === "queued" ? QUEUED_REFETCH_MS : PLAYING_REFETCH_MS;

/** A live game of a run's agent. */
export const liveGameQuery = (run: number, id: number) =>
  queryOptions({
    queryKey: liveGameKeys.watched(run, id),
    queryFn: ({ signal }): Promise<LiveGame> =>
      call("get", "/api/v1/live/{live_id}", { params: { path: { live_id: id } }, signal }),
    refetchInterval,
  });

/** A live game that people play. */
export const playQuery = (slug: string, id: number) =>
  queryOptions({
    queryKey: liveGameKeys.played(slug, id),
    queryFn: ({ signal }): Promise<PlayedGame> =>
      call("get", "/api/v1/games/{slug}/play/{play_id}", {
        params: { path: { slug, play_id: id } },
        signal,
      }),
    refetchInterval,
  });

/** A live game in which a person continues a replay. */
export const continuedPlayQuery = (replay: number, id: number) =>
  queryOptions({
    queryKey: liveGameKeys.continued(replay, id),
    queryFn: ({ signal }): Promise<PlayedGame> =>
      call("get", "/api/v1/replays/{replay_id}/play/{play_id}", {
        params: { path: { replay_id: replay, play_id: id } },
        signal,
      }),
    refetchInterval,
  });

/** Saved games that continue a replay, newest first. */
export const keptGamesOfReplayQuery = (replay: number) =>
  queryOptions({
    queryKey: liveGameKeys.keptOfReplay(replay),
    queryFn: ({ signal }): Promise<KeptGame[]> =>
      call("get", "/api/v1/kept-games", { params: { query: { replay_id: replay } }, signal }),
  });

/** Saved games that people played, newest first. */
export const keptGamesQuery = (env: string) =>
  queryOptions({
    queryKey: liveGameKeys.kept(env),
    queryFn: ({ signal }): Promise<KeptGame[]> =>
      call("get", "/api/v1/kept-games", { params: { query: { env } }, signal }),
  });

/** Start a live game of a run's agent, or join the one that others watch. */
export function useWatchLive(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (checkpoint: number | "newest"): Promise<LiveGame> =>
      call("post", "/api/v1/runs/{run_id}/live", {
        params: { path: { run_id: run } },
        body: { checkpoint },
      }),
    meta: OWN_ERRORS,
    onSuccess: (game) => client.setQueryData(liveGameKeys.watched(run, game.id), game),
  });
}

/** Start a live game that people play. */
export function usePlayGame(slug: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (): Promise<PlayedGame> =>
      call("post", "/api/v1/games/{slug}/play", { params: { path: { slug } } }),
    meta: OWN_ERRORS,
    onSuccess: (game) => client.setQueryData(liveGameKeys.played(slug, game.id), game),
  });
}

/** Start a live game in which a person continues a replay from a decision. */
export function useContinueReplay(replay: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (decision: number): Promise<PlayedGame> =>
      call("post", "/api/v1/replays/{replay_id}/play", {
        params: { path: { replay_id: replay } },
        body: { decision },
      }),
    meta: OWN_ERRORS,
    onSuccess: (game) => client.setQueryData(liveGameKeys.continued(replay, game.id), game),
  });
}

export function useDeleteKeptGame() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/kept-games/{kept_id}", { params: { path: { kept_id: id } } }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: liveGameKeys.allKept }),
        client.invalidateQueries({ queryKey: gameKeys.all }),
      ]),
  });
}
