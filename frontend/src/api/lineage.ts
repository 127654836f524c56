import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { runKeys } from "./runs";
import type { components } from "./schema";

export type Lineage = components["schemas"]["Lineage"];
export type LineageRun = components["schemas"]["LineageRun"];
export type LineageCheckpoint = components["schemas"]["LineageCheckpoint"];

/** Origin of a run, and the evaluations, forks and agents of its checkpoints. */
export const lineageQuery = (run: number) =>
  queryOptions({
    queryKey: [...runKeys.everythingOf(run), "lineage"],
    queryFn: ({ signal }): Promise<Lineage> =>
      call("get", "/api/v1/runs/{run_id}/lineage", { params: { path: { run_id: run } }, signal }),
  });
