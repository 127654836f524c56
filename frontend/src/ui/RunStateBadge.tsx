import {
  IconAlertTriangleFilled,
  IconCheck,
  IconClock,
  IconLoader,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerStopFilled,
} from "@tabler/icons-react";
import type { Run, RunState } from "@/api/types";
import { hint } from "./Hint";
import classes from "./RunStateBadge.module.css";
import { stateName } from "./states";

const ICONS: Record<RunState, typeof IconCheck> = {
  queued: IconClock,
  starting: IconLoader,
  running: IconPlayerPlayFilled,
  paused: IconPlayerPauseFilled,
  stopped: IconPlayerStopFilled,
  finished: IconCheck,
  failed: IconAlertTriangleFilled,
};

/** State of a run as an icon, a word and a color. It is readable without the color. */
export function RunStateBadge({ run }: { run: Pick<Run, "state" | "desired" | "state_reason"> }) {
  const Icon = ICONS[run.state];
  return (
    <span className={classes.badge} data-state={run.state} {...hint(run.state_reason)}>
      <Icon size={12} stroke={2.5} aria-hidden />
      {stateName(run)}
    </span>
  );
}
