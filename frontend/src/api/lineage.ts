import { apiQuery } from "./requests";
import { runKeys } from "./runs";
import type { components } from "./schema";

export type Lineage = components["schemas"]["Lineage"];
export type LineageRun = components["schemas"]["LineageRun"];
export type LineageCheckpoint = components["schemas"]["LineageCheckpoint"];

/** Origin of a run, and the evaluations, forks and agents of its checkpoints. */
export const lineageQuery = (run: number) =>
  apiQuery([...runKeys.everythingOf(run), "lineage"], "/api/v1/runs/{run_id}/lineage", {
    path: { run_id: run },
  });
