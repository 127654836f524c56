import type { BulkAction, ListedRun } from "@/api/types";

export interface SkippedRun {
  run: ListedRun;
  /** Why the server refuses the action, in a sentence. */
  reason: string;
}

/** Split runs into those that allow an action and those that it skips. */
export function splitByEligibility(runs: readonly ListedRun[], action: BulkAction) {
  const eligible: ListedRun[] = [];
  const skipped: SkippedRun[] = [];
  for (const run of runs) {
    const reason = run.actions[action];
    if (reason === null) eligible.push(run);
    else skipped.push({ run, reason });
  }
  return { eligible, skipped };
}
