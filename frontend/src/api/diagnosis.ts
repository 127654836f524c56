import { apiQuery } from "./requests";
import { runKeys } from "./runs";
import { live, ofRuns, SELDOM_SECONDS } from "./topics";

export const diagnosisKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "diagnosis"] as const,
};

/** The findings about a run, with the studies that test fixes. */
export const diagnosisQuery = (run: number) =>
  apiQuery(
    diagnosisKeys.list(run),
    "/api/v1/runs/{run_id}/diagnosis",
    { path: { run_id: run } },
    live(ofRuns([run], "run.changed", "run.metrics"), SELDOM_SECONDS),
  );
