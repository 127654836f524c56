import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { useDeleteRecording, recordingsQuery } from "@/api/recordings";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { useMayEdit } from "@/ui/mayEdit";
import { notifyDone } from "@/ui/notify";

/** Button that deletes a requested replay. Replays of the training are deleted with their checkpoints. */
export function DeleteRecording({ run, replay }: { run: number; replay: number }) {
  const { data } = useQuery(recordingsQuery(run));
  const mayEdit = useMayEdit();
  const remove = useDeleteRecording(run);
  // Keep the recording of the dialog, because another replay may be shown when the user confirms.
  const [chosen, setChosen] = useState<number | null>(null);
  const close = () => setChosen(null);
  const recording = data?.find(({ replay_id }) => replay_id === replay);
  const deleteRecording = (id: number) =>
    remove.mutate(id, { onSuccess: () => notifyDone("Recording deleted."), onSettled: close });
  return (
    <>
      {recording && mayEdit && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconTrash size={14} aria-hidden />}
          onClick={() => setChosen(recording.id)}
        >
          Delete
        </Button>
      )}
      <ConfirmModal
        opened={chosen !== null}
        title="Delete recording?"
        action="Delete recording"
        danger
        busy={remove.isPending}
        onConfirm={() => chosen !== null && deleteRecording(chosen)}
        onClose={close}
      >
        <Text size="sm">This permanently deletes the video, track and saliency.</Text>
      </ConfirmModal>
    </>
  );
}
