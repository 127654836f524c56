import type { Run } from "@/api/types";
import { RunStateBadge } from "@/ui/RunStateBadge";
import classes from "./runs.module.css";

/** The state, and under it why, in plain words. */
export function StateCell({ run }: { run: Run }) {
  const why = run.failure?.message ?? run.state_reason;
  return (
    <div className={classes.state}>
      <RunStateBadge run={run} />
      {why && (
        <span className={classes.why} title={why}>
          {why}
        </span>
      )}
    </div>
  );
}
