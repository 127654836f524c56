import { Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { isUnfinished } from "@/api/jobs";
import { useCancelRecording, useDeleteRecording, recordingsQuery } from "@/api/recordings";
import type { Recording, Run } from "@/api/types";
import { capitalize, short } from "@/ui/format";
import { useMayEdit } from "@/ui/mayEdit";
import { notifyDone } from "@/ui/notify";
import { TextWithCode } from "@/ui/TextWithCode";
import runClasses from "../run.module.css";

const STATES: Record<Recording["state"], string> = {
  queued: "is queued",
  running: "is in progress",
  done: "is done",
  failed: "failed",
  cancelled: "was canceled",
};

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
  const mayEdit = useMayEdit();
  const cancel = useCancelRecording(recording.run_id);
  const remove = useDeleteRecording(recording.run_id);
  const { id, state, step, seed, episode, reason } = recording;
  const name = `the recording at ${short(step, "steps")}, seed ${seed}, episode ${episode}`;
  return (
    <Group gap="xs" justify="space-between" wrap="nowrap" py={4}>
      <div>
        <Text size="sm">
          {capitalize(name)} {STATES[state]}.
        </Text>
        {reason && (
          <Text size="sm" c="dimmed">
            <TextWithCode>{reason}</TextWithCode>
          </Text>
        )}
      </div>
      {!mayEdit ? null : isUnfinished(recording) ? (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Cancel ${name}`}
          loading={cancel.isPending}
          onClick={() => cancel.mutate(id)}
        >
          Cancel
        </Button>
      ) : (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Delete ${name}`}
          loading={remove.isPending}
          onClick={() => remove.mutate(id, { onSuccess: () => notifyDone("Recording deleted.") })}
        >
          Delete
        </Button>
      )}
    </Group>
  );
}
