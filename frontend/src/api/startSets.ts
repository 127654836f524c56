import { call } from "./client";
import { isUnfinished } from "./jobs";
import { apiQuery, useApiMutation } from "./requests";
import { live, ofJobs } from "./topics";
import type { SavedStartPoints, StartPointsRequest, StartSetFile } from "./types";

// Short, so that the shown reason for waiting is current.
const WAIT_SECONDS = 5;

export const startSetKeys = {
  all: ["start-sets"] as const,
  ofGame: (env: string) => [...startSetKeys.all, env] as const,
};

/** The start sets of a game, newest first. */
export const startSetsQuery = (env: string) =>
  apiQuery(startSetKeys.ofGame(env), "/api/v1/start-sets", { query: { env } }, live(ofJobs("start_points")));

/** Store a start set under a name. */
export function useImportStartSet() {
  return useApiMutation(
    ({ points, ...query }: { name: string; project: string; points: StartSetFile }) =>
      call("post", "/api/v1/start-sets", { params: { query }, body: points }),
    { ownErrors: true, refetch: [startSetKeys.all] },
  );
}

/** Create a start set from points of a kept game. */
export function useCreateStartSet() {
  return useApiMutation(
    ({ id, name }: { id: number; name: string }) =>
      call("post", "/api/v1/kept-games/{kept_id}/start-points", {
        params: { path: { kept_id: id }, query: { name } },
      }),
    { refetch: [startSetKeys.all] },
  );
}

interface SaveStartPoints {
  body: StartPointsRequest;
  /** Receives the state while it waits. */
  onChange: (saved: SavedStartPoints) => void;
}

/** Save decisions of a replay as a start set, and wait until a worker has repeated the episode. */
export function useSaveStartPoints(replay: number) {
  return useApiMutation(
    async ({ body, onChange }: SaveStartPoints): Promise<SavedStartPoints> => {
      let saved = await call("post", "/api/v1/replays/{replay_id}/start-points", {
        params: { path: { replay_id: replay } },
        body,
      });
      while (isUnfinished(saved)) {
        onChange(saved);
        saved = await call("get", "/api/v1/replays/{replay_id}/start-points/{saving_id}", {
          params: {
            path: { replay_id: replay, saving_id: saved.id },
            query: { wait: "finished", timeout: WAIT_SECONDS },
          },
        });
      }
      return saved;
    },
    { ownErrors: true, refetch: [startSetKeys.all] },
  );
}

/** Delete a start set. Evaluations that used it keep their scores. */
export function useDeleteStartSet() {
  return useApiMutation(
    (id: number) =>
      call("delete", "/api/v1/start-sets/{start_set_id}", { params: { path: { start_set_id: id } } }),
    { refetch: [startSetKeys.all] },
  );
}
