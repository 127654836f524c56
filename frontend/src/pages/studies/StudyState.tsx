import { Tooltip } from "@mantine/core";
import type { StudySummary } from "@/api/types";
import { plural } from "@/ui/format";
import classes from "./studies.module.css";

const NAMES: Record<StudySummary["state"], string> = {
  running: "Running",
  paused: "Paused",
  stopped: "Stopped",
  finished: "Finished",
};

export function StudyState({ study }: { study: Pick<StudySummary, "state" | "state_reason"> }) {
  return (
    <Tooltip label={study.state_reason} disabled={!study.state_reason} multiline maw={360}>
      <span className={classes.badge} data-state={study.state}>
        {NAMES[study.state]}
      </span>
    </Tooltip>
  );
}

export function runTotal({ runs }: Pick<StudySummary, "runs">): number {
  return Object.values(runs).reduce((sum, count) => sum + count, 0);
}

const SHOWN = [
  "finished",
  "running",
  "starting",
  "queued",
  "paused",
  "stopped",
  "failed",
  "removed",
] as const;

/** Progress bar and counts of a study's runs by state. */
export function StudyProgress({ study }: { study: Pick<StudySummary, "runs"> }) {
  const total = runTotal(study);
  const summary = [...SHOWN, "planned" as const]
    .filter((state) => study.runs[state] > 0)
    .map((state) => `${study.runs[state]} ${state}`)
    .join(", ");
  return (
    <div>
      <div
        className={classes.bar}
        role="progressbar"
        aria-label="Runs that have finished"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={study.runs.finished}
        aria-valuetext={`${study.runs.finished} of ${plural(total, "run")}`}
      >
        {SHOWN.map((state) => (
          <div key={state} data-state={state} style={{ width: `${(100 * study.runs[state]) / total}%` }} />
        ))}
      </div>
      <p className={classes.dim}>
        {plural(total, "run")}: {summary}
      </p>
    </div>
  );
}
