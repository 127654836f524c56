import { Checkbox } from "@mantine/core";
import type { Run } from "@/api/types";
import { Rate, Score, TimeAgo } from "@/ui/Quantity";
import { RunProgress } from "@/ui/RunProgress";
import { shortEnv } from "./columns";
import { RunMenu } from "@/run-actions/RunMenu";
import { RunCell } from "./RunCell";
import classes from "./runs.module.css";
import { StateCell } from "./StateCell";
import type { RunTableModel } from "./useRunTable";

/** The table as cards, for narrow screens; the browser skips those out of view. */
export function RunCards({ model }: { model: RunTableModel }) {
  return (
    <ul className={classes.cards} aria-label="Runs">
      {model.table.getRowModel().rows.map((row) => (
        <li key={row.id} className={classes.card} data-selected={row.getIsSelected() || undefined}>
          <div className={classes.cardHead}>
            <Checkbox
              size="sm"
              aria-label={`Select ${row.original.name}`}
              checked={row.getIsSelected()}
              onChange={row.getToggleSelectedHandler()}
            />
            <RunCell run={row.original} />
            <RunMenu run={row.original} />
          </div>
          <CardBody run={row.original} />
        </li>
      ))}
    </ul>
  );
}

function CardBody({ run }: { run: Run }) {
  return (
    <>
      <div className={classes.cardLine}>
        <StateCell run={run} />
        <span className={classes.dim}>
          {run.method} · {shortEnv(run.env)} · <TimeAgo time={run.created_at} />
        </span>
      </div>
      <RunProgress run={run} />
      <dl className={classes.cardNumbers}>
        <dt>Last return</dt>
        <dd>
          <Score value={run.last_return} meaning="Mean of the last 100 episodes" />
        </dd>
        <dt>Best</dt>
        <dd>
          <Score value={run.best_return} meaning="Best mean of 100 episodes" />
        </dd>
        <dt>Speed</dt>
        <dd>
          <Rate value={run.steps_per_second} />
        </dd>
      </dl>
    </>
  );
}
