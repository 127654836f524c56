import { Button, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { calibrationFigureQuery, calibrationKeys, calibrationQuery } from "@/api/calibrations";
import { checkpointsQuery } from "@/api/checkpoints";
import { isUnfinished, useCancelJob, useDeleteJob } from "@/api/jobs";
import { recordingsQuery, useRequestRecording } from "@/api/recordings";
import { replaysQuery, trackQuery } from "@/api/replays";
import type {
  Calibration,
  CalibrationDocument,
  CalibrationWithDocument,
  JudgedMoment,
  Recording,
  Replay,
  Run,
} from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { middleOf } from "@/replays/clock";
import { withMoment } from "@/replays/moment";
import { BlockableButton } from "@/ui/BlockableButton";
import { DataTable } from "@/ui/DataTable";
import { exact, formatInterval, score } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { JobActions, JobPage, JobTimes, parseJobId } from "../JobPage";
import {
  calibrationName,
  describeBias,
  describeErrors,
  describeOwnValues,
  describeRegret,
  describeSize,
  formatMeasure,
} from "./words";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";
import classes from "./critic.module.css";

/** Page of one calibration: plot, errors in words, worst moments and settings. */
export function CalibrationDetail({ run, idText }: { run: Run; idText: string }) {
  const id = parseJobId(idText);
  const query = useQuery({ ...calibrationQuery(run.id, id ?? 0), enabled: id !== null });
  return (
    <JobPage
      run={run}
      kind="calibration"
      tab="critic"
      idText={idText}
      query={query}
      title={(calibration) => `Critic at ${calibrationName(calibration)}`}
      actions={(calibration, leave) => <CalibrationActions calibration={calibration} onRemoved={leave} />}
    >
      {(calibration) => {
        const { document } = calibration;
        return document ? (
          <div className={classes.detail}>
            <div className={runClasses.card}>
              <CalibrationPlot calibration={calibration} document={document} />
            </div>
            <div className={classes.column}>
              <Errors document={document} />
              <WorstMoments run={run} calibration={calibration} moments={document.worst} />
              <Settings calibration={calibration} />
            </div>
          </div>
        ) : (
          <Settings calibration={calibration} />
        );
      }}
    </JobPage>
  );
}

/** Actions for a calibration. */
export function CalibrationActions({
  calibration,
  onRemoved,
}: {
  calibration: Calibration;
  onRemoved?: () => void;
}) {
  const { id, run_id } = calibration;
  const name = calibrationName(calibration);
  const refetch = [calibrationKeys.ofRun(run_id)];
  const cancel = useCancelJob("calibration", refetch);
  const remove = useDeleteJob("calibration", refetch, (client) => {
    notifyDone(`Calibration at ${name} removed.`);
    onRemoved?.();
    client.removeQueries({ queryKey: calibrationKeys.detail(run_id, id) });
  });
  return (
    <JobActions
      job={calibration}
      kind="calibration"
      name={`calibration at ${name}`}
      cancel={cancel}
      remove={remove}
      results={{ path: `/export/calibrations/${id}.csv`, label: "Export all decisions (CSV)" }}
    >
      Calibration at {name}:{" "}
      {isUnfinished(calibration) ? "this stops it." : "this permanently deletes its results."} The checkpoint
      is kept.
    </JobActions>
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

interface WorstMomentsProps {
  run: Run;
  calibration: Calibration;
  moments: readonly JudgedMoment[];
}

/** The decisions with the largest errors. Each opens in a recording of its episode, which is made on request. */
function WorstMoments({ run, calibration, moments }: WorstMomentsProps) {
  return (
    <section className={runClasses.card} aria-label="Worst moments">
      <Title order={3} mb="xs">
        Worst moments
      </Title>
      <DataTable
        verticalSpacing={6}
        className={runClasses.oneLine}
        rows={moments}
        rowKey={({ episode, decision }) => `${episode}-${decision}`}
        columns={[
          {
            title: "Decision",
            cell: ({ episode, decision }) => (
              <>
                {exact(decision + 1)}
                <Text size="xs" c="dimmed">
                  episode {episode}
                </Text>
              </>
            ),
          },
          { title: "Value", numeric: true, cell: ({ value }) => score(value) },
          {
            title: "Return",
            help: "Mean return of the futures, and its 95 % interval",
            numeric: true,
            cell: ({ mean, interval }) => (
              <>
                {formatMeasure(mean, interval)}
                <Text size="xs" c="dimmed">
                  {interval ? formatInterval(interval) : "most are equal"}
                </Text>
              </>
            ),
          },
          {
            title: "Watch",
            isTitleHidden: true,
            cell: (moment) => <WatchButton run={run} calibration={calibration} moment={moment} />,
            cellProps: () => ({ ta: "right" }),
          },
        ]}
      />
    </section>
  );
}

/** Opens the recording of a moment's episode at the decision. Without a recording, it requests one. */
function WatchButton({
  run,
  calibration,
  moment,
}: Omit<WorstMomentsProps, "moments"> & { moment: JudgedMoment }) {
  const { data: recordings = [] } = useQuery(recordingsQuery(run.id));
  const { data: replays = [] } = useQuery(replaysQuery(run.id));
  const request = useRequestRecording(run.id);
  const open = useOpenMoment(run);
  const { data: checkpoints } = useQuery(checkpointsQuery(run.id));
  const name = `decision ${exact(moment.decision + 1)} of episode ${moment.episode}`;
  const own = recordings.filter((recording) => isOf(recording, calibration, moment));
  const replay = findReplay(own, replays);
  if (replay) {
    return (
      <Button
        size="compact-sm"
        variant="light"
        aria-label={`Watch ${name}`}
        onClick={() => void open(replay, moment)}
      >
        Watch
      </Button>
    );
  }
  const isWaiting = request.isPending || own.some(isUnfinished);
  if (isWaiting) {
    return (
      <Text size="sm" c="dimmed" role="status" aria-label={`Recording ${name}`}>
        Recording…
      </Text>
    );
  }
  const { checkpoint_id, protocol, seed } = calibration;
  const isKept = checkpoints?.some(({ id, available }) => id === checkpoint_id && available) ?? true;
  const deleted = isKept ? null : "The checkpoint of this calibration was deleted.";
  const record = () =>
    request.mutate(
      { checkpoint: checkpoint_id, protocol, seed, episode: moment.episode },
      { onError: notifyProblem },
    );
  return (
    <BlockableButton
      blocked={run.actions.play ?? deleted}
      tooltip="Record the episode to watch this moment."
      size="compact-sm"
      variant="default"
      aria-label={`Record ${name}`}
      onClick={record}
    >
      Record
    </BlockableButton>
  );
}

const isOf = (recording: Recording, calibration: Calibration, { episode }: JudgedMoment) =>
  recording.checkpoint_id === calibration.checkpoint_id &&
  recording.protocol === calibration.protocol &&
  recording.seed === calibration.seed &&
  recording.episode === episode;

const findReplay = (recordings: readonly Recording[], replays: readonly Replay[]) =>
  replays.find(({ id, file_id }) => file_id !== null && recordings.some(({ replay_id }) => replay_id === id));

/** Return a function that opens a replay at a decision. */
function useOpenMoment(run: Run) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async (replay: Replay, { decision }: JudgedMoment) => {
    try {
      const { head, picture } = await client.fetchQuery(trackQuery(replay));
      // A recording of a long episode may end before the decision.
      const seconds = middleOf(picture[decision] ?? picture.at(-1) ?? 0, head.pictures_per_second);
      const search = withMoment(new URLSearchParams(), [replay.id], seconds);
      await navigate(`/runs/${run.id}/replays?${search.toString()}`);
    } catch (error) {
      notifyProblem(error);
    }
  };
}
