import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { useApiMutation } from "./requests";
import { runKeys } from "./runs";
import { LIST_SECONDS, live, ofRuns } from "./topics";
import type { RunChange, RunChanges, RunConfig } from "./types";

export const changeKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "changes"] as const,
};

/** Changes of a run's settings, and its configuration before them. */
export const changesQuery = (run: number) =>
  queryOptions({
    queryKey: changeKeys.list(run),
    ...live(ofRuns([run], "run.changed"), LIST_SECONDS),
    queryFn: ({ signal }): Promise<RunChanges> =>
      call("get", "/api/v1/runs/{run_id}/changes", { params: { path: { run_id: run } }, signal }),
  });

/** Change settings of a run. */
export function useChangeRun(run: number) {
  return useApiMutation(
    (fields: RunConfig): Promise<RunChange> =>
      call("post", "/api/v1/runs/{run_id}/changes", {
        params: { path: { run_id: run } },
        body: { fields },
      }),
    { ownErrors: true, refetch: [runKeys.everythingOf(run), runKeys.lists] },
  );
}
