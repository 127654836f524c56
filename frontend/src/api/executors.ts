import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { live, ofRuns } from "./topics";
import type { ExecutorName, SlurmSettings } from "./types";

export const executorKeys = {
  all: ["executors"] as const,
  slurm: ["executors", "slurm"] as const,
  output: (run: number, submission: string) => ["job-output", run, submission] as const,
};

/** Where runs can train. */
export const executorsQuery = apiQuery(executorKeys.all, "/api/v1/executors");

export const slurmQuery = apiQuery(executorKeys.slurm, "/api/v1/executors/slurm");

/** The end of the output of a run's latest job. */
export const jobOutputQuery = (id: number, submission: string) =>
  apiQuery(
    executorKeys.output(id, submission),
    "/api/v1/runs/{run_id}/job-output",
    { path: { run_id: id } },
    live(ofRuns([id], "run.changed")),
  );

/** Choose where runs train if neither they nor their project choose a place. */
export const useChooseDefaultExecutor = () =>
  useApiMutation(
    (executor: ExecutorName) => call("put", "/api/v1/executors/default", { body: { executor } }),
    {
      refetch: [executorKeys.all],
    },
  );

export const useSaveSlurm = () =>
  useApiMutation((body: SlurmSettings) => call("put", "/api/v1/executors/slurm", { body }), {
    refetch: [executorKeys.all],
    ownErrors: true,
  });

/** Check settings of Slurm with a job that connects to the server. */
export const useCheckSlurm = () =>
  useApiMutation(
    (body: SlurmSettings) =>
      call("post", "/api/v1/executors/slurm/check", { body, params: { query: { run_job: true } } }),
    { ownErrors: true },
  );
