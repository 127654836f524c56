import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { runKeys } from "./runs";
import type { Finding } from "./types";

export const diagnosisKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "diagnosis"] as const,
};

/** The findings about a run, with the studies that test fixes. */
export const diagnosisQuery = (run: number) =>
  queryOptions({
    queryKey: diagnosisKeys.list(run),
    queryFn: ({ signal }): Promise<Finding[]> =>
      call("get", "/api/v1/runs/{run_id}/diagnosis", { params: { path: { run_id: run } }, signal }),
  });
