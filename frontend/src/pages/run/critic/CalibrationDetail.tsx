import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { calibrationFigureQuery, calibrationQuery } from "@/api/calibrations";
import { isNotFound } from "@/api/problem";
import type { CalibrationDocument, CalibrationWithDocument, Run } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { exact } from "@/ui/format";
import { NoPlayer } from "@/ui/NoPlayer";
import { Reason } from "@/ui/Reason";
import { JobPage, JobTimes, parseJobId } from "../JobPage";
import jobClasses from "../jobs.module.css";
import { SUPERSEDED_REASON } from "../jobWords";
import runClasses from "../run.module.css";
import { CalibrationActions } from "./CalibrationActions";
import { JobState } from "@/ui/JobState";
import classes from "./critic.module.css";
import {
  calibrationName,
  describeBias,
  describeErrors,
  describeOwnValues,
  describeRegret,
  describeSize,
} from "./words";
import { WorstMoments } from "./WorstMoments";

/** Page of one calibration: plot, errors in words, worst moments and settings. */
export function CalibrationDetail({ run, idText }: { run: Run; idText: string }) {
  const id = parseJobId(idText);
  const query = useQuery({ ...calibrationQuery(run.id, id ?? 0), enabled: id !== null });
  const isOfAnotherRun = query.data !== undefined && query.data.run_id !== run.id;
  const isGone = id === null || isNotFound(query.error) || isOfAnotherRun;
  return (
    <JobPage
      run={run}
      noun="calibration"
      tab="critic"
      query={query}
      missing={isGone ? `There is no calibration ${idText} of this run` : null}
    >
      {(calibration, leave) => <LoadedCalibration run={run} calibration={calibration} onRemoved={leave} />}
    </JobPage>
  );
}

interface LoadedCalibrationProps {
  run: Run;
  calibration: CalibrationWithDocument;
  onRemoved: () => void;
}

function LoadedCalibration({ run, calibration, onRemoved }: LoadedCalibrationProps) {
  const { document } = calibration;
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap={12}>
          <Title order={2}>Critic at {calibrationName(calibration)}</Title>
          <JobState job={calibration} kind="calibration" />
        </Group>
        <CalibrationActions calibration={calibration} onRemoved={onRemoved} />
      </Group>
      {calibration.superseded && <Text size="sm">This calibration is superseded. {SUPERSEDED_REASON}</Text>}
      <Reason of={calibration} />
      {calibration.state === "queued" && <NoPlayer />}
      <div className={document ? classes.detail : undefined}>
        {document && (
          <div className={runClasses.card}>
            <CalibrationPlot calibration={calibration} document={document} />
          </div>
        )}
        <div className={classes.column}>
          {document && (
            <>
              <Errors document={document} />
              <WorstMoments run={run} calibration={calibration} moments={document.worst} />
            </>
          )}
          <Settings calibration={calibration} />
        </div>
      </div>
    </>
  );
}

const HEADER = [
  "episode",
  "decision",
  "value",
  "mean_return",
  "low",
  "high",
  "regret_at_least",
  "regret_at_most",
];

interface PlotProps {
  calibration: CalibrationWithDocument;
  document: CalibrationDocument;
}

/** Mean returns of the futures against the values that the critic predicted. */
function CalibrationPlot({ calibration: { id, run_id }, document }: PlotProps) {
  const points = () =>
    Promise.resolve({
      header: HEADER,
      rows: document.moments.map(({ episode, decision, value, mean, interval, regret }) => [
        ...[episode, decision, value, mean, interval?.[0], interval?.[1], regret?.at_least, regret?.at_most],
      ]),
    });
  return (
    <FigureFrame
      title="Predicted value and mean return of futures"
      hint="On the dashed line, values equal the mean returns of the futures. Below it, values are higher."
      label="Mean return of the futures by predicted value, for decisions and for groups with similar values."
      query={calibrationFigureQuery(run_id, id)}
      zoom={null}
      onZoom={() => undefined}
      revision="calibration"
      legend
      height={420}
      empty="No finite values to show."
      file={`calibration-${id}`}
      points={points}
    />
  );
}

/** The errors of the critic in words. */
function Errors({ document }: { document: CalibrationDocument }) {
  const ownValues = describeOwnValues(document);
  return (
    <section className={runClasses.card} aria-label="Result">
      <Title order={3} mb="xs">
        Result
      </Title>
      <Stack gap={6}>
        <Text size="sm" fw={600}>
          {describeBias(document)}
        </Text>
        {ownValues && <Text size="sm">{ownValues}</Text>}
        <Text size="sm">{describeErrors(document)}</Text>
        <Text size="sm">{describeRegret(document)}</Text>
        {document.warnings?.map((warning) => (
          <Text size="sm" key={warning}>
            {warning}
          </Text>
        ))}
      </Stack>
    </section>
  );
}

/** Checkpoint and options of a calibration. */
function Settings({ calibration }: { calibration: CalibrationWithDocument }) {
  const { document } = calibration;
  return (
    <section className={runClasses.card} aria-label="Calibration settings">
      <Title order={3} mb="xs">
        Settings
      </Title>
      <dl className={jobClasses.settings}>
        <dt>Checkpoint</dt>
        <dd>at {exact(calibration.step, "steps")}</dd>
        <dt>Protocol</dt>
        <dd>
          {calibration.protocol}, seed {calibration.seed}
        </dd>
        <dt>Size</dt>
        <dd>{describeSize(document ?? calibration)}</dd>
        {document && (
          <>
            <dt>Return</dt>
            <dd>
              discounted with γ = {document.gamma}
              {document.clip_rewards && ", of clipped rewards"}
            </dd>
          </>
        )}
        <JobTimes job={calibration} />
      </dl>
    </section>
  );
}
