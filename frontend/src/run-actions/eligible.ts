import type { BulkAction, Run } from "@/api/types";

export interface SkippedRun {
  run: Run;
  /** The server's sentence why the action is refused. */
  reason: string;
}

/** Split runs into those that an action touches and those that it skips. */
export function sortOut(runs: readonly Run[], action: BulkAction) {
  const touched: Run[] = [];
  const skipped: SkippedRun[] = [];
  for (const run of runs) {
    const reason = run.actions[action];
    if (reason === null) touched.push(run);
    else skipped.push({ run, reason });
  }
  return { touched, skipped };
}
