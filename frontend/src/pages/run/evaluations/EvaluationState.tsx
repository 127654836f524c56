import {
  IconAlertTriangleFilled,
  IconCheck,
  IconClock,
  IconPlayerPlayFilled,
  IconX,
} from "@tabler/icons-react";
import type { Evaluation } from "@/api/types";
import badgeClasses from "@/ui/RunStateBadge.module.css";
import classes from "@/ui/Run.module.css";
import { progressWords, STATE_NAMES } from "./words";

const SIGNS: Record<Evaluation["state"], typeof IconCheck> = {
  queued: IconClock,
  running: IconPlayerPlayFilled,
  done: IconCheck,
  failed: IconAlertTriangleFilled,
  cancelled: IconX,
};
/** The states of runs that look alike. */
const LOOKS = { running: "running", done: "finished", failed: "failed" } as const;

/** The state of an evaluation: a sign and a word, and how far one is that is played. */
export function EvaluationState({ evaluation }: { evaluation: Evaluation }) {
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
      {STATE_NAMES[state]}
    </span>
  );
}

function EpisodeProgress({ evaluation }: { evaluation: Evaluation }) {
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
        <span>{progressWords(evaluation)}</span>
      </div>
    </div>
  );
}
