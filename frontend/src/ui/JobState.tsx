import {
  IconAlertTriangleFilled,
  IconCheck,
  IconClock,
  IconPlayerPlayFilled,
  IconX,
} from "@tabler/icons-react";
import type { Job } from "@/api/jobs";
import { plural } from "./format";
import badgeClasses from "./RunStateBadge.module.css";
import classes from "./Run.module.css";

type State = Job["state"];

const NAMES: Record<Exclude<State, "running">, string> = {
  queued: "Waiting",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};
const ICONS: Record<State, typeof IconCheck> = {
  queued: IconClock,
  running: IconPlayerPlayFilled,
  done: IconCheck,
  failed: IconAlertTriangleFilled,
  cancelled: IconX,
};
/** States of runs that are shown like a state of a job. */
const RUN_STATES = { running: "running", done: "finished", failed: "failed" } as const;

const WORDS = {
  evaluation: { ...NAMES, running: "Playing", noun: "episode", label: "Episodes played" },
  // A stopped review keeps what it found.
  review: {
    ...NAMES,
    running: "Reviewing",
    cancelled: "Stopped",
    noun: "decision",
    label: "Decisions reviewed",
  },
  // The stages of a practice, which continues after it was stopped.
  planning: {
    ...NAMES,
    running: "Planning",
    cancelled: "Stopped",
    noun: "moment",
    label: "Moments simulated",
  },
  training: { ...NAMES, running: "Training", cancelled: "Stopped", noun: "step", label: "Steps trained" },
  measuring: { ...NAMES, running: "Measuring", cancelled: "Stopped", noun: "part", label: "Parts measured" },
  calibration: { ...NAMES, running: "Calibrating", noun: "decision", label: "Decisions judged" },
  recording: { ...NAMES, running: "Recording", noun: "decision", label: "Decisions recorded" },
  futures: { ...NAMES, running: "Simulating", noun: "future", label: "Futures simulated" },
};

export type JobWords = keyof typeof WORDS;

interface JobStateProps {
  job: Pick<Job, "state" | "done" | "total">;
  kind: JobWords;
}

/** Return the state of a job in one word, such as "Waiting". */
export const jobStateName = (state: State, kind: JobWords): string => WORDS[kind][state];

/** State of a job with an icon, and its progress while it is in progress. */
export function JobState({ job: { state, done, total }, kind }: JobStateProps) {
  const { noun, label, ...names } = WORDS[kind];
  return state === "running" && total > 0 ? (
    <JobProgress done={done} total={total} noun={noun} label={label} />
  ) : (
    <StateBadge state={state} name={names[state]} />
  );
}

function StateBadge({ state, name }: { state: State; name: string }) {
  const Icon = ICONS[state];
  const runState = state in RUN_STATES ? RUN_STATES[state as keyof typeof RUN_STATES] : undefined;
  return (
    <span className={badgeClasses.badge} data-state={runState}>
      <Icon size={12} stroke={2.5} aria-hidden />
      {name}
    </span>
  );
}

interface JobProgressProps {
  done: number;
  total: number;
  noun: string;
  label: string;
}

function JobProgress({ done, total, noun, label }: JobProgressProps) {
  const fraction = Math.min(1, done / total);
  return (
    <div className={classes.progress} style={{ width: 136 }}>
      <div
        className={classes.bar}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
      >
        <div className={classes.fill} data-state="running" style={{ width: `${fraction * 100}%` }} />
      </div>
      <div className={classes.progressWords}>
        <span>
          {done} of {plural(total, noun)}
        </span>
      </div>
    </div>
  );
}
