import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { OWN_ERRORS } from "./mutationState";
import type { StartSet, StartSetFile } from "./types";

export const startSetKeys = {
  all: ["start-sets"] as const,
  ofGame: (env: string) => [...startSetKeys.all, env] as const,
};

/** The start sets of a game, newest first. */
export const startSetsQuery = (env: string) =>
  queryOptions({
    queryKey: startSetKeys.ofGame(env),
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

/** Delete a start set. Evaluations that used it keep their scores. */
export function useDeleteStartSet() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/start-sets/{start_set_id}", { params: { path: { start_set_id: id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: startSetKeys.all }),
  });
}
