import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { runKeys } from "./runs";
import type { Saliency, SaliencyMaps, Track, Replay } from "./types";

export const replayKeys = {
  /** A run's replays and the state of their saliency. */
  list: (run: number) => [...runKeys.everythingOf(run), "replays"] as const,
  saliency: (run: number, replay: number) => [...replayKeys.list(run), replay, "saliency"] as const,
  // A track or saliency that is computed again gets a new file, so the file is part of the key.
  track: (replay: number, file: number | null) => ["track", replay, file] as const,
  saliencyMaps: (replay: number, file: number | null) => ["saliency", replay, file] as const,
};

export const replaysQuery = (run: number) =>
  queryOptions({
    queryKey: replayKeys.list(run),
    queryFn: ({ signal }): Promise<Replay[]> =>
      call("get", "/api/v1/runs/{run_id}/replays", { params: { path: { run_id: run } }, signal }),
  });

export const trackQuery = ({ id, track_file_id }: Pick<Replay, "id" | "track_file_id">) =>
  queryOptions({
    queryKey: replayKeys.track(id, track_file_id),
    queryFn: ({ signal }): Promise<Track> =>
      call("get", "/api/v1/replays/{replay_id}/track", { params: { path: { replay_id: id } }, signal }),
    enabled: track_file_id !== null,
    staleTime: Infinity,
  });

/** State of a replay's saliency, once it was requested. Fetched again with the run's replays. */
export const saliencyQuery = ({ id, run_id, saliency_asked }: Replay) =>
  queryOptions({
    queryKey: replayKeys.saliency(run_id, id),
    queryFn: ({ signal }): Promise<Saliency> =>
      call("get", "/api/v1/replays/{replay_id}/saliency", { params: { path: { replay_id: id } }, signal }),
    enabled: saliency_asked,
  });

export const saliencyMapsQuery = (replay: number, file: number | null) =>
  queryOptions({
    queryKey: replayKeys.saliencyMaps(replay, file),
    queryFn: ({ signal }): Promise<SaliencyMaps> =>
      call("get", "/api/v1/replays/{replay_id}/saliency/maps", {
        params: { path: { replay_id: replay } },
        signal,
      }),
    enabled: file !== null,
    staleTime: Infinity,
  });

/** Queue a job that computes the saliency of a replay. */
export function useRequestSaliency(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (replay: number): Promise<Saliency> =>
      call("post", "/api/v1/replays/{replay_id}/saliency", { params: { path: { replay_id: replay } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: replayKeys.list(run) }),
  });
}

/** Delete the saliency of a replay, or cancel its computation. */
export function useDeleteSaliency(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (replay: number) =>
      call("delete", "/api/v1/replays/{replay_id}/saliency", { params: { path: { replay_id: replay } } }),
    onSettled: () => client.invalidateQueries({ queryKey: replayKeys.list(run) }),
  });
}

/** Pin or unpin a replay. Pruning never deletes a pinned one. */
export function usePinReplay(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ replay, pinned }: { replay: number; pinned: boolean }): Promise<Replay> =>
      call("patch", "/api/v1/replays/{replay_id}", {
        params: { path: { replay_id: replay } },
        body: { pinned },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: replayKeys.list(run) }),
  });
}
