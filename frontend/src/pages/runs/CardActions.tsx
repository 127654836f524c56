import { Button } from "@mantine/core";
import {
  IconArrowBackUp,
  IconBroadcast,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
} from "@tabler/icons-react";
import { Link } from "react-router";
import type { ListedRun } from "@/api/types";
import { useRunControls } from "@/run-actions/useRunControls";
import { hasAgent } from "@/ui/states";
import classes from "./runs.module.css";

const ACTIONS = [
  { action: "resume", label: "Resume", Icon: IconPlayerPlay },
  { action: "pause", label: "Pause", Icon: IconPlayerPause },
  { action: "stop", label: "Stop", Icon: IconPlayerStop },
] as const;

/** Buttons at the bottom of a card, for what a run allows now. Nothing for a run that has ended. */
export function CardActions({ run }: { run: ListedRun }) {
  const { perform, isStopPending, undoStop, sending } = useRunControls(run);
  const allowed = ACTIONS.filter(({ action }) => run.actions[action] === null);
  const isLive = run.state === "running" && hasAgent(run) && run.actions.play === null;
  if (allowed.length === 0 && !isLive && !isStopPending) return null;
  return (
    <div className={classes.cardActions}>
      {isLive && (
        <Button
          component={Link}
          to={`/runs/${run.id}/live`}
          variant="default"
          leftSection={<IconBroadcast size={16} aria-hidden />}
          aria-label={`Watch ${run.name} live`}
        >
          Live
        </Button>
      )}
      {isStopPending ? (
        <Button
          leftSection={<IconArrowBackUp size={16} aria-hidden />}
          aria-label={`Undo stop of ${run.name}`}
          onClick={undoStop}
        >
          Undo stop
        </Button>
      ) : (
        allowed.map(({ action, label, Icon }) => (
          <Button
            key={action}
            variant="default"
            leftSection={<Icon size={16} aria-hidden />}
            aria-label={`${label} ${run.name}`}
            loading={sending === action}
            onClick={() => perform(action)}
          >
            {label}
          </Button>
        ))
      )}
    </div>
  );
}
