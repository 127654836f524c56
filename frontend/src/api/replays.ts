import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { showsJobs } from "./jobs";
import { runKeys } from "./runs";
import { live, ofJobs, ofRuns } from "./topics";
import type { Replay } from "./types";

export const replayKeys = {
  /** A run's replays and the state of their saliency. */
  list: (run: number) => [...runKeys.everythingOf(run), "replays"] as const,
  saliency: (run: number, replay: number) => [...replayKeys.list(run), replay, "saliency"] as const,
  // A track or saliency that is computed again gets a new file, so the file is part of the key.
  track: (replay: number, file: number | null) => ["track", replay, file] as const,
  saliencyMaps: (replay: number, file: number | null) => ["saliency", replay, file] as const,
};

/** A replay has whether its saliency was requested. */
const topicsOf = (run: number) => [...ofRuns([run], "run.files"), ...ofJobs("saliency", { run_id: run })];

export const replaysQuery = (run: number) =>
  apiQuery(
    replayKeys.list(run),
    "/api/v1/runs/{run_id}/replays",
    { path: { run_id: run } },
    live(topicsOf(run)),
  );

export const trackQuery = ({ id, track_file_id }: Pick<Replay, "id" | "track_file_id">) =>
  apiQuery(
    replayKeys.track(id, track_file_id),
    "/api/v1/replays/{replay_id}/track",
    { path: { replay_id: id } },
    { enabled: track_file_id !== null, staleTime: Infinity },
  );

/** State of a replay's saliency, once it was requested. Fetched again with the run's replays. */
export const saliencyQuery = ({ id, run_id, saliency_asked }: Replay) =>
  apiQuery(
    replayKeys.saliency(run_id, id),
    "/api/v1/replays/{replay_id}/saliency",
    { path: { replay_id: id } },
    { ...showsJobs(topicsOf(run_id)), enabled: saliency_asked },
  );

export const saliencyMapsQuery = (replay: number, file: number | null) =>
  apiQuery(
    replayKeys.saliencyMaps(replay, file),
    "/api/v1/replays/{replay_id}/saliency/maps",
    { path: { replay_id: replay } },
    { enabled: file !== null, staleTime: Infinity },
  );

/** Queue a job that computes the saliency of a replay. */
export function useRequestSaliency(run: number) {
  return useApiMutation(
    (replay: number) =>
      call("post", "/api/v1/replays/{replay_id}/saliency", { params: { path: { replay_id: replay } } }),
    { refetch: [replayKeys.list(run)] },
  );
}

/** Delete the saliency of a replay, or cancel its computation. */
export function useDeleteSaliency(run: number) {
  return useApiMutation(
    (replay: number) =>
      call("delete", "/api/v1/replays/{replay_id}/saliency", { params: { path: { replay_id: replay } } }),
    { refetch: [replayKeys.list(run)], refetchOnError: true },
  );
}

/** Pin or unpin a replay. Pruning never deletes a pinned one. */
export function usePinReplay(run: number) {
  return useApiMutation(
    ({ replay, pinned }: { replay: number; pinned: boolean }) =>
      call("patch", "/api/v1/replays/{replay_id}", {
        params: { path: { replay_id: replay } },
        body: { pinned },
      }),
    { refetch: [replayKeys.list(run)] },
  );
}
