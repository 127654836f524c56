import { Anchor, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { presetsQuery } from "@/api/configuration";
import type { Run } from "@/api/types";
import { sameValue, shown } from "@/config-form/draft";
import { nearestPreset } from "@/config-form/reference";
import { useConfigFields } from "@/config-form/useConfigFields";
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

/** Settings that are always shown. */
const MAIN_FIELDS = [
  "env",
  "total_steps",
  "num_envs",
  "num_actors",
  "num_agents",
  "t_max",
  "learning_rate",
  "seed",
];

/** Settings of a reported run that are shown. */
const FIRST_FIELDS = 10;

/** The main settings, and those that differ from the nearest preset. */
export function ConfigSummary({ run }: { run: Run }) {
  return isReported(run) ? <ReportedSummary run={run} /> : <TrainedSummary run={run} />;
}

function ReportedSummary({ run }: { run: Run }) {
  const fields = Object.entries(run.config);
  return (
    <section className={classes.card} aria-label="Configuration summary">
      <Title order={2} mb="xs">
        Configuration
      </Title>
      <dl className={classes.pairs}>
        {fields.slice(0, FIRST_FIELDS).map(([name, value]) => (
          <Pair key={name} title={name} differs={false} value={shown(value)} />
        ))}
      </dl>
      <Text size="xs" c="dimmed" mt="xs">
        {fields.length === 0 ? (
          "No configuration was logged."
        ) : (
          <Anchor component={Link} to={`/runs/${run.id}/config`} size="xs">
            See {fields.length > FIRST_FIELDS ? `all ${fields.length} settings` : "all settings"}
          </Anchor>
        )}
      </Text>
    </section>
  );
}

function TrainedSummary({ run }: { run: Run }) {
  const fields = useConfigFields(run);
  const presets = useQuery(presetsQuery);
  const preset = nearestPreset(presets.data ?? [], run.config);
  const differs = (name: string) => preset !== undefined && !sameValue(preset.config[name], run.config[name]);
  const shownFields = fields.filter(
    ({ name }) => name in run.config && (MAIN_FIELDS.includes(name) || differs(name)),
  );
  return (
    <section className={classes.card} aria-label="Configuration summary">
      <Title order={2} mb="xs">
        Configuration
      </Title>
      <dl className={classes.pairs}>
        {shownFields.map((field) => (
          <Pair
            key={field.name}
            title={field.title}
            differs={differs(field.name)}
            value={shown(run.config[field.name])}
          />
        ))}
      </dl>
      <Text size="xs" c="dimmed" mt="xs">
        {preset &&
          (shownFields.some(({ name }) => differs(name))
            ? `Bold settings differ from the preset “${preset.title}”. `
            : `Same as the preset “${preset.title}”. `)}
        <Anchor component={Link} to={`/runs/${run.id}/config`} size="xs">
          See all settings
        </Anchor>
      </Text>
    </section>
  );
}

function Pair({ title, value, differs }: { title: string; value: string; differs: boolean }) {
  return (
    <>
      <dt>{title}</dt>
      <dd className={differs ? classes.differs : undefined}>{value}</dd>
    </>
  );
}
