import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { runKeys } from "./runs";

export const markKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "marks"] as const,
  rules: ["anomaly-rules"] as const,
};

/** Events of a run by step, and anomalies in its metrics. */
export const marksQuery = (run: number) =>
  queryOptions({
    queryKey: markKeys.list(run),
    queryFn: ({ signal }) =>
      call("get", "/api/v1/runs/{run_id}/marks", { params: { path: { run_id: run } }, signal }),
  });

export const anomalyRulesQuery = queryOptions({
  queryKey: markKeys.rules,
  queryFn: ({ signal }) => call("get", "/api/v1/anomaly-rules", { signal }),
  staleTime: Infinity,
});
