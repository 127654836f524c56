import { Button, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { IconTrash } from "@tabler/icons-react";
import { useRemoveRecording } from "@/api/mutations";
import { recordingsQuery } from "@/api/queries";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";

/** Removes a replay that somebody asked for; those that training made go with their checkpoints. */
export function RemoveRecording({ run, video }: { run: number; video: number }) {
  const { data } = useQuery(recordingsQuery(run));
  const remove = useRemoveRecording(run);
  const [asking, asks] = useDisclosure(false);
  const recording = data?.find(({ video_id }) => video_id === video);
  if (!recording) return null;
  const removeIt = () =>
    remove.mutate(recording.id, {
      onSuccess: () => notifyDone("Recording removed"),
      onSettled: asks.close,
    });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconTrash size={14} aria-hidden />}
        onClick={asks.open}
      >
        Remove
      </Button>
      <ConfirmModal
        opened={asking}
        title="Remove this recording?"
        action="Remove recording"
        danger
        busy={remove.isPending}
        onConfirm={removeIt}
        onClose={asks.close}
      >
        <Text size="sm">Its video, its track and its saliency are gone for good.</Text>
      </ConfirmModal>
    </>
  );
}
