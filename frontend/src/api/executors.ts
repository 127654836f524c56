import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { live, ofRuns } from "./topics";
import type { ExecutorName, SchedulerName, SchedulerSettings } from "./types";

export const executorKeys = {
  all: ["executors"] as const,
  scheduler: (name: SchedulerName) => ["executors", name] as const,
  output: (run: number, submission: string) => ["job-output", run, submission] as const,
};

const TITLES: Record<string, string> = { slurm: "Slurm", ray: "Ray" };

/** Return how a scheduler is called in texts. */
export const schedulerTitle = (name: string) => TITLES[name] ?? name;

/** Where runs can train. */
export const executorsQuery = apiQuery(executorKeys.all, "/api/v1/executors");

/** Settings of a scheduler, with the JSON Schema of their form. */
export const schedulerQuery = (name: SchedulerName) =>
  apiQuery(executorKeys.scheduler(name), `/api/v1/executors/${name}`);

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

export const useSaveScheduler = (name: SchedulerName) =>
  useApiMutation((body: SchedulerSettings) => call("put", `/api/v1/executors/${name}`, { body }), {
    refetch: [executorKeys.all],
    ownErrors: true,
  });

/** Check settings of a scheduler with a job that connects to the server. */
export const useCheckScheduler = (name: SchedulerName) =>
  useApiMutation(
    (body: SchedulerSettings) =>
      call("post", `/api/v1/executors/${name}/check`, {
        body,
        params: { query: { run_job: true } },
      }),
    { ownErrors: true },
  );
