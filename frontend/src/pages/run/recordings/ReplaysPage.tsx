import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCancelJob, useDeleteJob } from "@/api/jobs";
import { recordingKeys, recordingsQuery } from "@/api/recordings";
import { runKeys } from "@/api/runs";
import type { Recording, Run } from "@/api/types";
import { ReplaysTab } from "@/replays/ReplaysTab";
import { capitalize, short } from "@/ui/format";
import { CancelJob, DeleteJob } from "@/ui/JobControls";
import { jobStateName } from "@/ui/JobState";
import { notifyDone } from "@/ui/notify";
import { TextWithCode } from "@/ui/TextWithCode";
import runClasses from "../run.module.css";

/** Replays of a run, with the requested recordings above them. */
export function ReplaysPage({ run }: { run: Run }) {
  return (
    <Stack gap="sm">
      <RecordingsList run={run} />
      <ReplaysTab run={run} />
    </Stack>
  );
}

/** Requested recordings without a replay: queued, in progress, failed or canceled. */
export function RecordingsList({ run }: { run: Run }) {
  const { data } = useQuery(recordingsQuery(run.id));
  const unfinished = (data ?? []).filter(({ state }) => state !== "done");
  if (unfinished.length === 0) return null;
  return (
    <section className={runClasses.card} aria-label="Requested recordings">
      {unfinished.map((recording) => (
        <RecordingRow key={recording.id} recording={recording} />
      ))}
    </section>
  );
}

function RecordingRow({ recording }: { recording: Recording }) {
  const { run_id, state, step, seed, episode, reason } = recording;
  const cancel = useCancelJob("recording", [recordingKeys.list(run_id)]);
  const remove = useDeleteJob("recording", [runKeys.everythingOf(run_id)], () =>
    notifyDone("Recording deleted."),
  );
  const name = `the recording at ${short(step, "steps")}, seed ${seed}, episode ${episode}`;
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap" py={4}>
      <div>
        <Text size="sm">
          {capitalize(name)}: {jobStateName(state, "recording").toLowerCase()}
        </Text>
        {reason && (
          <Text size="sm" c="dimmed">
            <TextWithCode>{reason}</TextWithCode>
          </Text>
        )}
      </div>
      <CancelJob job={recording} mutation={cancel} aria-label={`Cancel ${name}`} />
      <DeleteJob
        job={recording}
        mutation={remove}
        size="compact-sm"
        variant="default"
        aria-label={`Delete ${name}`}
      >
        Delete
      </DeleteJob>
    </Group>
  );
}
