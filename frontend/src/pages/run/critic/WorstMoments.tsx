import { Button, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { isUnfinished } from "@/api/jobs";
import { checkpointsQuery } from "@/api/checkpoints";
import { recordingsQuery, useRequestRecording } from "@/api/recordings";
import { replaysQuery, trackQuery } from "@/api/replays";
import type { Calibration, JudgedMoment, Recording, Replay, Run } from "@/api/types";
import { middleOf } from "@/replays/clock";
import { withMoment } from "@/replays/moment";
import { BlockableButton } from "@/ui/BlockableButton";
import { DataTable } from "@/ui/DataTable";
import { exact, formatInterval, score } from "@/ui/format";
import { notifyProblem } from "@/ui/notify";
import runClasses from "../run.module.css";
import { formatMeasure } from "./words";

interface WorstMomentsProps {
  run: Run;
  calibration: Calibration;
  moments: readonly JudgedMoment[];
}

/** The decisions with the largest errors. Each opens in a recording of its episode, which is made on request. */
export function WorstMoments({ run, calibration, moments }: WorstMomentsProps) {
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
