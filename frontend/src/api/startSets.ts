import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { isUnfinished } from "./jobs";
import { OWN_ERRORS } from "./mutationState";
import { live, ofJobs } from "./topics";
import type { SavedStartPoints, StartPointsRequest, StartSet, StartSetFile } from "./types";

// Short, so that the shown reason for waiting is current.
const WAIT_SECONDS = 5;

export const startSetKeys = {
  all: ["start-sets"] as const,
  ofGame: (env: string) => [...startSetKeys.all, env] as const,
};

/** The start sets of a game, newest first. */
export const startSetsQuery = (env: string) =>
  queryOptions({
    queryKey: startSetKeys.ofGame(env),
    ...live(ofJobs("start_points")),
    queryFn: ({ signal }): Promise<StartSet[]> =>
      call("get", "/api/v1/start-sets", { params: { query: { env } }, signal }),
  });

/** Store a start set under a name. */
export function useImportStartSet() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, points }: { name: string; points: StartSetFile }): Promise<StartSet> =>
      call("post", "/api/v1/start-sets", { params: { query: { name } }, body: points }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries({ queryKey: startSetKeys.all }),
  });
}

/** Create a start set from points of a kept game. */
export function useCreateStartSet() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, name }: { id: number; name: string }): Promise<StartSet> =>
      call("post", "/api/v1/kept-games/{kept_id}/start-points", {
        params: { path: { kept_id: id }, query: { name } },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: startSetKeys.all }),
  });
}

/** Save decisions of a replay as a start set, and wait until a worker has repeated the episode. */
export function useSaveStartPoints(replay: number) {
  const client = useQueryClient();
  return useMutation({
    meta: OWN_ERRORS,
    mutationFn: async ({
      body,
      onChange,
    }: {
      body: StartPointsRequest;
      /** Receives the state while it waits. */
      onChange: (saved: SavedStartPoints) => void;
    }): Promise<SavedStartPoints> => {
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
    onSuccess: () => client.invalidateQueries({ queryKey: startSetKeys.all }),
  });
}

/** Delete a start set. Evaluations that used it keep their scores. */
export function useDeleteStartSet() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/start-sets/{start_set_id}", { params: { path: { start_set_id: id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: startSetKeys.all }),
  });
}
