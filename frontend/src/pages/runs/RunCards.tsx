import { Checkbox } from "@mantine/core";
import { memo } from "react";
import type { ListedRun } from "@/api/types";
import { Rate, Score, TimeAgo } from "@/ui/Quantity";
import { RunProgress } from "@/ui/RunProgress";
import { BaselineDelta } from "./BaselineDelta";
import { CardActions } from "./CardActions";
import { RunMenu } from "@/run-actions/RunMenu";
import { ChoiceItems } from "./CurveChoice";
import { RunCell } from "./RunCell";
import { shortEnv } from "@/ui/format";
import classes from "./runs.module.css";
import { SparklineBatches, SparklineCell } from "./SparklineCell";
import { StateCell } from "./StateCell";
import type { RunTableModel } from "./useRunTable";
import { bestReturnMeaning, lastReturnMeaning } from "@/ui/states";

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
