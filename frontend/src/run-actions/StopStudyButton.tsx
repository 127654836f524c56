import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Study } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { plural } from "@/ui/format";
import { useSteerStudy } from "./useSteerStudy";

/** Button that stops a study after a confirmation. Empty if the study cannot be stopped now. */
export function StopStudyButton({ study }: { study: Pick<Study, "id" | "actions" | "runs_remaining"> }) {
  const [opened, dialog] = useDisclosure(false);
  const { send, sending } = useSteerStudy(study.id);
  if (study.actions.stop !== null) return null;
  return (
    <>
      <Button size="xs" variant="default" loading={sending === "stop"} onClick={dialog.open}>
        Stop study
      </Button>
      <ConfirmModal
        opened={opened}
        title="Stop the study?"
        action="Stop study"
        danger
        onClose={dialog.close}
        onConfirm={() => {
          dialog.close();
          send("stop");
        }}
      >
        This permanently stops its queued and training runs.
        {study.runs_remaining > 0 &&
          ` Resume the study to create ${plural(study.runs_remaining, "remaining run")}.`}
      </ConfirmModal>
    </>
  );
}
