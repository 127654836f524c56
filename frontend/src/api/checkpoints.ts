import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { runKeys } from "./runs";
import type { Checkpoint } from "./types";

export const checkpointKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "checkpoints"] as const,
};

export const checkpointsQuery = (run: number) =>
  queryOptions({
    queryKey: checkpointKeys.list(run),
    queryFn: ({ signal }): Promise<Checkpoint[]> =>
      call("get", "/api/v1/runs/{run_id}/checkpoints", { params: { path: { run_id: run } }, signal }),
  });

/** Pin or unpin a checkpoint. Pruning never deletes a pinned one. */
export function usePinCheckpoint(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ checkpoint, pinned }: { checkpoint: number; pinned: boolean }) =>
      call("patch", "/api/v1/runs/{run_id}/checkpoints/{checkpoint_id}", {
        params: { path: { run_id: run, checkpoint_id: checkpoint } },
        body: { pinned },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: checkpointKeys.list(run) }),
  });
}
