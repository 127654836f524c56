import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { runKeys } from "./runs";
import { live, ofJobs, ofRuns } from "./topics";

export const checkpointKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "checkpoints"] as const,
};

export const checkpointsQuery = (run: number) =>
  apiQuery(
    checkpointKeys.list(run),
    "/api/v1/runs/{run_id}/checkpoints",
    { path: { run_id: run } },
    live([...ofRuns([run], "run.files"), ...ofJobs("evaluation", { run_id: run })]),
  );

/** Pin or unpin a checkpoint. Pruning never deletes a pinned one. */
export function usePinCheckpoint(run: number) {
  return useApiMutation(
    ({ checkpoint, pinned }: { checkpoint: number; pinned: boolean }) =>
      call("patch", "/api/v1/runs/{run_id}/checkpoints/{checkpoint_id}", {
        params: { path: { run_id: run, checkpoint_id: checkpoint } },
        body: { pinned },
      }),
    { refetch: [checkpointKeys.list(run)] },
  );
}
