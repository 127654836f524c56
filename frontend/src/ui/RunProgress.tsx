import type { Run } from "@/api/types";
import classes from "./Run.module.css";
import { hint } from "./Hint";
import { duration, exact, percent, short, wholePercent } from "./format";

type ProgressOf = Pick<Run, "state" | "step" | "total_steps" | "seconds_left">;

const MINUTE = 60;
const HOUR = 3600;

/** Return the time left in minutes, or in hours from ten hours, so that it does not change at every update. */
function timeLeft(seconds: number): string {
  const step = seconds >= 10 * HOUR ? HOUR : seconds >= 2 * MINUTE ? MINUTE : 1;
  return duration(Math.round(seconds / step) * step);
}

/** Progress bar of a run with the time left. Without a known total, only its steps. */
export function RunProgress({ run }: { run: ProgressOf }) {
  if (run.total_steps === null) {
    return (
      <span {...hint(`${exact(run.step)} steps; the total is not known`)}>{short(run.step, "steps")}</span>
    );
  }
  return <ProgressBar run={{ ...run, total_steps: run.total_steps }} />;
}

function ProgressBar({ run }: { run: ProgressOf & { total_steps: number } }) {
  const fraction = run.total_steps > 0 ? Math.min(1, run.step / run.total_steps) : 0;
  const left =
    run.state === "running" && run.seconds_left !== null ? `${timeLeft(run.seconds_left)} left` : null;
  return (
    <div className={classes.progress} {...hint(`${exact(run.step)} of ${exact(run.total_steps)} steps`)}>
      <div
        className={classes.bar}
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={wholePercent(fraction)}
      >
        <div className={classes.fill} data-state={run.state} style={{ width: `${fraction * 100}%` }} />
      </div>
      <div className={classes.progressWords}>
        <span>{percent(fraction)}</span>
        {left && <span>{left}</span>}
      </div>
    </div>
  );
}
