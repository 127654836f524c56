import { Button, Tooltip } from "@mantine/core";
import {
  IconArrowBackUp,
  IconBroadcast,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
} from "@tabler/icons-react";
import type { RunAction } from "@/api/runs";
import type { Run } from "@/api/types";
import { useRunControls } from "@/run-actions/useRunControls";
import { BlockableButton } from "@/ui/BlockableButton";
import { hasAgent, isReported } from "@/ui/states";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { ContinueButton } from "./ContinueButton";

const ACTIONS: { action: RunAction; label: string; tooltip: string; Icon: typeof IconPlayerStop }[] = [
  {
    action: "resume",
    label: "Resume",
    tooltip: "Continue from the last checkpoint. Environments start new episodes.",
    Icon: IconPlayerPlay,
  },
  {
    action: "pause",
    label: "Pause",
    tooltip: "Save a checkpoint and free the worker. You can resume the run.",
    Icon: IconPlayerPause,
  },
  {
    action: "stop",
    label: "Stop run",
    tooltip: "Save a checkpoint and end the run. You can undo this for 10 seconds.",
    Icon: IconPlayerStop,
  },
];

/** A script ends only if it checks for these requests. */
const SCRIPT_TOOLTIPS: Partial<Record<RunAction, string>> = {
  resume: "Let the script continue.",
  pause: "Request the script to end. You can run it again later.",
  stop: "Request the script to end. You can undo this for 10 seconds.",
};

/** Buttons for the actions that the run allows now. */
export function RunActions({ run }: { run: Run }) {
  const { perform, isStopPending, undoStop, sending } = useRunControls(run);
  const undo = useCatchFocus<HTMLButtonElement>(isStopPending);
  const stop = useCatchFocus<HTMLButtonElement>(!isStopPending);
  if (isStopPending) {
    return (
      <Button ref={undo} size="xs" leftSection={<IconArrowBackUp size={14} aria-hidden />} onClick={undoStop}>
        Undo stop
      </Button>
    );
  }
  return (
    <>
      {ACTIONS.filter(({ action }) => run.actions[action] === null).map(
        ({ action, label, tooltip, Icon }) => (
          <Tooltip key={action} label={isReported(run) ? SCRIPT_TOOLTIPS[action] : tooltip}>
            <Button
              ref={action === "stop" ? stop : undefined}
              size="xs"
              variant={action === "resume" ? "filled" : "default"}
              leftSection={<Icon size={14} aria-hidden />}
              loading={sending === action}
              onClick={() => perform(action)}
            >
              {label}
            </Button>
          </Tooltip>
        ),
      )}
      {hasAgent(run) && (
        <BlockableButton
          blocked={run.actions.play}
          tooltip="Watch the agent play in real time, with its values and action probabilities."
          to={`/runs/${run.id}/live`}
          size="xs"
          variant="default"
          leftSection={<IconBroadcast size={14} aria-hidden />}
        >
          Watch live
        </BlockableButton>
      )}
      {!isReported(run) && (run.state === "stopped" || run.state === "failed") && (
        <ContinueButton run={run} />
      )}
    </>
  );
}
