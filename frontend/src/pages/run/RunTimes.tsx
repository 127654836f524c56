import { Anchor, Title } from "@mantine/core";
import { Link } from "react-router";
import type { Run } from "@/api/types";
import { duration, exact, short } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { useNow } from "@/ui/useNow";
import { isActive } from "@/ui/states";
import classes from "./run.module.css";

/** When, where, and from what a run came. */
export function RunTimes({ run }: { run: Run }) {
  const now = useNow();
  const end = run.finished_at ? Date.parse(run.finished_at) : isActive(run) ? now : null;
  const seconds = run.started_at && end ? (end - Date.parse(run.started_at)) / 1000 : null;
  return (
    <section className={classes.card} aria-label="About this run">
      <Title order={2} mb="xs">
        About this run
      </Title>
      <dl className={classes.pairs}>
        <dt>Launched</dt>
        <dd>
          <TimeAgo time={run.created_at} />
        </dd>
        <dt>Started</dt>
        <dd>
          <TimeAgo time={run.started_at} />
        </dd>
        <dt>Ended</dt>
        <dd>
          <TimeAgo time={run.finished_at} />
        </dd>
        <dt>Took</dt>
        <dd>{duration(seconds)}</dd>
        <dt>Episodes</dt>
        <dd title={exact(run.episodes)}>{short(run.episodes)}</dd>
        <dt>Queue</dt>
        <dd>{run.queue === "gpu" ? "GPU workers" : "CPU workers"}</dd>
        <dt>Worker</dt>
        <dd>{run.worker ?? "–"}</dd>
        <dt>Attempts</dt>
        <dd>{run.attempt}</dd>
        <dt>Began from</dt>
        <dd>
          {run.parent ? (
            <Anchor component={Link} to={`/runs/${run.parent.run_id}`} size="sm">
              run {run.parent.run_id}
              {run.parent.step !== null && ` at ${short(run.parent.step, "steps")}`}
            </Anchor>
          ) : (
            "nothing"
          )}
        </dd>
      </dl>
    </section>
  );
}
