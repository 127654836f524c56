import type { ListedRun } from "@/api/types";
import { RunStateBadge } from "@/ui/RunStateBadge";
import classes from "./runs.module.css";

/** State of a run, with its reason. */
export function StateCell({ run }: { run: ListedRun }) {
  const reason = run.failure?.message ?? run.state_reason;
  return (
    <div className={classes.state}>
      <RunStateBadge run={run} />
      {reason && (
        <span className={classes.why} title={reason}>
          {reason}
        </span>
      )}
    </div>
  );
}
