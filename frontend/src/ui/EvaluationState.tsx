import {
  IconAlertTriangleFilled,
  IconCheck,
  IconClock,
  IconPlayerPlayFilled,
  IconX,
} from "@tabler/icons-react";
import type { Evaluation } from "@/api/types";
import { plural } from "./format";
import badgeClasses from "./RunStateBadge.module.css";
import classes from "./Run.module.css";

const NAMES: Record<Evaluation["state"], string> = {
  queued: "Waiting",
  running: "Playing",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};
const SIGNS: Record<Evaluation["state"], typeof IconCheck> = {
  queued: IconClock,
  running: IconPlayerPlayFilled,
  done: IconCheck,
  failed: IconAlertTriangleFilled,
  cancelled: IconX,
};
/** The states of runs that look alike. */
const LOOKS = { running: "running", done: "finished", failed: "failed" } as const;

type Progress = Pick<Evaluation, "episodes_done" | "episodes_total">;

/** The state of an evaluation: a sign and a word, and how far one is that is played. */
export function EvaluationState({ evaluation }: { evaluation: Progress & Pick<Evaluation, "state"> }) {
  return evaluation.state === "running" ? (
    <EpisodeProgress evaluation={evaluation} />
  ) : (
    <StateBadge state={evaluation.state} />
  );
}

function StateBadge({ state }: Pick<Evaluation, "state">) {
  const Sign = SIGNS[state];
  const look = state in LOOKS ? LOOKS[state as keyof typeof LOOKS] : undefined;
  return (
    <span className={badgeClasses.badge} data-state={look}>
      <Sign size={12} stroke={2.5} aria-hidden />
      {NAMES[state]}
    </span>
  );
}

function EpisodeProgress({ evaluation }: { evaluation: Progress }) {
  const { episodes_done, episodes_total } = evaluation;
  const share = Math.min(1, episodes_done / Math.max(1, episodes_total));
  return (
    <div className={classes.progress} style={{ width: 136 }}>
      <div
        className={classes.bar}
        role="progressbar"
        aria-label="Episodes played"
        aria-valuemin={0}
        aria-valuemax={episodes_total}
        aria-valuenow={episodes_done}
      >
        <div className={classes.fill} data-state="running" style={{ width: `${share * 100}%` }} />
      </div>
      <div className={classes.progressWords}>
        <span>
          {episodes_done} of {plural(episodes_total, "episode")}
        </span>
      </div>
    </div>
  );
}
