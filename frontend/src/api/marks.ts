import { apiQuery } from "./requests";
import { runKeys } from "./runs";
import { live, ofJobs, ofRuns, SELDOM_SECONDS } from "./topics";

export const markKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "marks"] as const,
  rules: ["anomaly-rules"] as const,
};

/** Events of a run by step, and anomalies in its metrics. */
export const marksQuery = (run: number) =>
  apiQuery(
    markKeys.list(run),
    "/api/v1/runs/{run_id}/marks",
    { path: { run_id: run } },
    live(
      [...ofRuns([run], "run.metrics", "run.files"), ...ofJobs("evaluation", { run_id: run })],
      SELDOM_SECONDS,
    ),
  );

export const anomalyRulesQuery = apiQuery(
  markKeys.rules,
  "/api/v1/anomaly-rules",
  {},
  { staleTime: Infinity },
);
