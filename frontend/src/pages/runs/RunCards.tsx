import { Button, Checkbox } from "@mantine/core";
import {
  IconArrowBackUp,
  IconBroadcast,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
} from "@tabler/icons-react";
import { memo } from "react";
import { Link } from "react-router";
import type { ListedRun } from "@/api/types";
import { RunMenu } from "@/run-actions/RunMenu";
import { useRunControls } from "@/run-actions/useRunControls";
import { shortEnv } from "@/ui/format";
import { Rate, Score, TimeAgo } from "@/ui/Quantity";
import { RunProgress } from "@/ui/RunProgress";
import { bestReturnMeaning, hasAgent, lastReturnMeaning } from "@/ui/states";
import { BaselineDelta } from "./BaselineDelta";
import { ChoiceItems } from "./CurveChoice";
import { RunCell } from "./RunCell";
import { SparklineBatches, SparklineCell } from "./SparklineCell";
import { StateCell } from "./StateCell";
import type { RunTableModel } from "./useRunTable";
import classes from "./runs.module.css";

/** The runs as cards, for narrow screens. CSS keeps the browser from rendering cards out of view. */
export function RunCards({ model }: { model: RunTableModel }) {
  return (
    <SparklineBatches runs={model.rows.loaded}>
      <ul className={classes.cards} aria-label="Runs">
        {model.rows.loaded.map((run) => (
          <RunCard key={run.id} run={run} selected={model.isSelected(run.id)} onToggle={model.toggle} />
        ))}
      </ul>
    </SparklineBatches>
  );
}

interface RunCardProps {
  run: ListedRun;
  selected: boolean;
  onToggle: RunTableModel["toggle"];
}

/** Memoized, because there may be a thousand cards. */
const RunCard = memo(function RunCard({ run, selected, onToggle }: RunCardProps) {
  return (
    <li className={classes.card} data-selected={selected || undefined}>
      <div className={classes.cardHead}>
        {/* A tap beside the box counts too. */}
        <label className={classes.cardCheck}>
          <Checkbox
            size="sm"
            aria-label={`Select ${run.name}`}
            checked={selected}
            onChange={(event) => onToggle(run.id, event)}
          />
        </label>
        <RunCell run={run} />
        <RunMenu run={run}>
          <ChoiceItems run={run} />
        </RunMenu>
      </div>
      <CardBody run={run} />
      <CardActions run={run} />
    </li>
  );
});

function CardBody({ run }: { run: ListedRun }) {
  return (
    <>
      <div className={classes.cardLine}>
        <StateCell run={run} />
        <span className={classes.dim}>
          {run.method && `${run.method} · `}
          {run.env && `${shortEnv(run.env)} · `}
          <TimeAgo time={run.created_at} />
        </span>
      </div>
      <RunProgress run={run} />
      <dl className={classes.cardNumbers}>
        <dt>Last return</dt>
        <dd>
          <Score value={run.last_return} meaning={lastReturnMeaning(run)} />
          <BaselineDelta run={run} column="last_return" />
        </dd>
        <dt>Best</dt>
        <dd>
          <Score value={run.best_return} meaning={bestReturnMeaning(run)} />
          <BaselineDelta run={run} column="best_return" />
        </dd>
        <dt>Speed</dt>
        <dd>
          <Rate value={run.steps_per_second} />
          <BaselineDelta run={run} column="steps_per_second" />
        </dd>
        <dt>Return</dt>
        <dd>
          <SparklineCell run={run} />
        </dd>
      </dl>
    </>
  );
}

const ACTIONS = [
  { action: "resume", label: "Resume", Icon: IconPlayerPlay },
  { action: "pause", label: "Pause", Icon: IconPlayerPause },
  { action: "stop", label: "Stop", Icon: IconPlayerStop },
] as const;

/** Buttons at the bottom of a card, for what a run allows now. Nothing for a run that has ended. */
function CardActions({ run }: { run: ListedRun }) {
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
