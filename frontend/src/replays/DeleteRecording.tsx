import { Button } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useDeleteJob } from "@/api/jobs";
import { recordingsQuery } from "@/api/recordings";
import { runKeys } from "@/api/runs";
import { DeleteJobModal } from "@/ui/JobControls";
import { useMayEdit } from "@/ui/mayEdit";

/** Button that deletes a requested replay. Replays of the training are deleted with their checkpoints. */
export function DeleteRecording({ run, replay }: { run: number; replay: number }) {
  const { data } = useQuery(recordingsQuery(run));
  const mayEdit = useMayEdit();
  const remove = useDeleteJob("recording", [runKeys.everythingOf(run)]);
  // Keep the recording of the dialog, because another replay may be shown when the user confirms.
  const [chosen, setChosen] = useState<number | null>(null);
  const recording = data?.find(({ replay_id }) => replay_id === replay);
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
      <DeleteJobModal
        job={chosen}
        noun="recording"
        mutation={remove}
        done="Recording deleted."
        onClose={() => setChosen(null)}
      >
        This permanently deletes the video, track and saliency.
      </DeleteJobModal>
    </>
  );
}
