import { Tooltip } from "@mantine/core";
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
    <Tooltip label={run.state_reason} disabled={!run.state_reason} multiline maw={360}>
      <span className={classes.badge} data-state={run.state}>
        <Icon size={12} stroke={2.5} aria-hidden />
        {stateName(run)}
      </span>
    </Tooltip>
  );
}
