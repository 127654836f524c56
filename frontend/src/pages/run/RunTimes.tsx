import { Anchor, Title } from "@mantine/core";
import { Link } from "react-router";
import type { Run } from "@/api/types";
import { duration, exact, short } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { isReported, originName } from "@/ui/states";
import classes from "./run.module.css";

/** When and where a run trained, and from which checkpoint it started. */
export function RunTimes({ run }: { run: Run }) {
  return (
    <section className={classes.card} aria-label="About this run">
      <Title order={2} mb="xs">
        About this run
      </Title>
      <dl className={classes.pairs}>
        <dt>{isReported(run) ? "Created" : "Launched"}</dt>
        <dd>
          <TimeAgo time={run.created_at} />
        </dd>
        {run.started_at && (
          <>
            <dt>Started</dt>
            <dd>
              <TimeAgo time={run.started_at} />
            </dd>
          </>
        )}
        {run.finished_at && (
          <>
            <dt>Ended</dt>
            <dd>
              <TimeAgo time={run.finished_at} />
            </dd>
          </>
        )}
        <dt>Duration</dt>
        {run.origin === "imported" && run.trained_seconds === 0 ? (
          <dd title="The imported files have no times">unknown</dd>
        ) : (
          <dd title="Training time without pauses">{duration(run.trained_seconds)}</dd>
        )}
        <dt>Episodes</dt>
        {isReported(run) && run.episodes === 0 ? (
          <dd title="The script logged no single episodes">not logged</dd>
        ) : (
          <dd title={exact(run.episodes)}>{short(run.episodes)}</dd>
        )}
        {run.queue && (
          <>
            <dt>Queue</dt>
            <dd>{run.queue === "gpu" ? "GPU workers" : "CPU workers"}</dd>
          </>
        )}
        {run.worker && (
          <>
            <dt>Worker</dt>
            <dd>{run.worker}</dd>
          </>
        )}
        {run.origin !== "imported" && (
          <>
            <dt>Attempts</dt>
            <dd>{run.attempt}</dd>
          </>
        )}
        {isReported(run) ? (
          <ReportedFacts run={run} />
        ) : (
          <>
            <dt>Started from</dt>
            <dd>
              {!run.parent && "scratch"}
              {run.parent?.run_id === null && `a run of another project${startStep(run.parent)}`}
              {run.parent?.run_id && (
                <Anchor component={Link} to={`/runs/${run.parent.run_id}`} size="sm">
                  run {run.parent.run_id}
                  {startStep(run.parent)}
                </Anchor>
              )}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function ReportedFacts({ run }: { run: Run }) {
  return (
    <>
      <dt>{run.origin === "reported" ? "Logged by" : "Imported from"}</dt>
      <dd>{originName(run)}</dd>
      {run.reported_key !== null && (
        <>
          <dt>Key</dt>
          <dd>{run.reported_key}</dd>
        </>
      )}
    </>
  );
}

const startStep = ({ step }: NonNullable<Run["parent"]>) =>
  step === null ? "" : ` at ${short(step, "steps")}`;
