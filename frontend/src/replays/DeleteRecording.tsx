import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { useDeleteRecording, recordingsQuery } from "@/api/recordings";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";

/** Button that deletes a requested replay. Replays of the training are deleted with their checkpoints. */
export function DeleteRecording({ run, replay }: { run: number; replay: number }) {
  const { data } = useQuery(recordingsQuery(run));
  const remove = useDeleteRecording(run);
  // Keep the recording of the dialog, because another replay may be shown when the user confirms.
  const [asked, setAsked] = useState<number | null>(null);
  const close = () => setAsked(null);
  const recording = data?.find(({ replay_id }) => replay_id === replay);
  const removeIt = (id: number) =>
    remove.mutate(id, { onSuccess: () => notifyDone("Recording removed"), onSettled: close });
  return (
    <>
      {recording && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconTrash size={14} aria-hidden />}
          onClick={() => setAsked(recording.id)}
        >
          Remove
        </Button>
      )}
      <ConfirmModal
        opened={asked !== null}
        title="Remove this recording?"
        action="Remove recording"
        danger
        busy={remove.isPending}
        onConfirm={() => asked !== null && removeIt(asked)}
        onClose={close}
      >
        <Text size="sm">Its video, its track and its saliency are gone for good.</Text>
      </ConfirmModal>
    </>
  );
}
