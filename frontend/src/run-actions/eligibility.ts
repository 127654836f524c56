import type { BulkAction, Run } from "@/api/types";

export interface SkippedRun {
  run: Run;
  /** Why the server refuses the action, in a sentence. */
  reason: string;
}

/** Split runs into those that allow an action and those that it skips. */
export function splitByEligibility(runs: readonly Run[], action: BulkAction) {
  const eligible: Run[] = [];
  const skipped: SkippedRun[] = [];
  for (const run of runs) {
    const reason = run.actions[action];
    if (reason === null) eligible.push(run);
    else skipped.push({ run, reason });
  }
  return { eligible, skipped };
}
