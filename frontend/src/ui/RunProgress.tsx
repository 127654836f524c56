import { Tooltip } from "@mantine/core";
import type { Run } from "@/api/types";
import classes from "./Run.module.css";
import { duration, exact, percent, wholePercent } from "./format";

type ProgressOf = Pick<Run, "state" | "step" | "total_steps" | "seconds_left">;

const HOUR = 3600;

/** Ten hours and more are guessed by the hour only, which also fits the row. */
function timeLeft(seconds: number): string {
  return duration(seconds >= 10 * HOUR ? Math.round(seconds / HOUR) * HOUR : seconds);
}

/** How far a run is and how long it still needs. */
export function RunProgress({ run }: { run: ProgressOf }) {
  const share = run.total_steps > 0 ? Math.min(1, run.step / run.total_steps) : 0;
  const left =
    run.state === "running" && run.seconds_left !== null ? `${timeLeft(run.seconds_left)} left` : null;
  return (
    <Tooltip label={`${exact(run.step)} of ${exact(run.total_steps)} steps`}>
      <div className={classes.progress}>
        <div
          className={classes.bar}
          role="progressbar"
          aria-label="Progress"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={wholePercent(share)}
        >
          <div className={classes.fill} data-state={run.state} style={{ width: `${share * 100}%` }} />
        </div>
        <div className={classes.progressWords}>
          <span>{percent(share)}</span>
          {left && <span>{left}</span>}
        </div>
      </div>
    </Tooltip>
  );
}
