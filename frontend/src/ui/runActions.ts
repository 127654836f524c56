import type { BulkAction, Run } from "@/api/types";
import { isActive, stateName } from "./states";

type ActionOf = Pick<Run, "state" | "desired" | "archived_at">;

export const ACTION_NAMES: Record<BulkAction, string> = {
  stop: "Stop",
  pause: "Pause",
  resume: "Resume",
  archive: "Archive",
  restore: "Restore",
  purge: "Purge",
};

export const ACTION_DONE: Record<BulkAction, string> = {
  stop: "asked to stop",
  pause: "asked to pause",
  resume: "queued again",
  archive: "archived",
  restore: "restored",
  purge: "purged",
};

/** Why an action is not for this run now, in words; null when it is. The server has the last word. */
export function refusal(run: ActionOf, action: BulkAction): string | null {
  const is = `it is ${stateName(run).toLowerCase()}`;
  switch (action) {
    case "stop":
      if (run.desired === "stop" && isActive(run)) return is;
      return isActive(run) || run.state === "paused" ? null : is;
    case "pause":
      return isActive(run) && run.desired === "run" ? null : is;
    case "resume":
      // An active run that is only asked to pause takes that back.
      return run.state === "paused" || (isActive(run) && run.desired === "pause") ? null : is;
    case "archive":
      if (run.archived_at) return "it is archived already";
      return isActive(run) ? `${is}: stop it first` : null;
    case "restore":
      return run.archived_at ? null : "it is not archived";
    case "purge":
      return isActive(run) ? `${is}: stop it first` : null;
  }
}

/** Which of these runs an action touches, and which it skips and why. */
export function sortOut<T extends ActionOf>(runs: readonly T[], action: BulkAction) {
  const touched: T[] = [];
  const skipped: { run: T; reason: string }[] = [];
  for (const run of runs) {
    const reason = refusal(run, action);
    if (reason) skipped.push({ run, reason });
    else touched.push(run);
  }
  return { touched, skipped };
}
