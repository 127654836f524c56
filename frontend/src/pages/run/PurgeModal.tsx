import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";
import { usePurgeRun } from "@/api/mutations";
import type { Run } from "@/api/types";
import { notifyDone } from "@/ui/notify";

interface PurgeModalProps {
  run: Run;
  opened: boolean;
  onClose: () => void;
}

/** Removing a run for good asks for its name, since nothing brings it back. */
export function PurgeModal({ run, opened, onClose }: PurgeModalProps) {
  const [typed, setTyped] = useState("");
  const purge = usePurgeRun();
  const navigate = useNavigate();
  const agreed = typed.trim() === run.name.trim();

  function remove(event: FormEvent) {
    event.preventDefault();
    if (!agreed) return;
    purge.mutate(run.id, {
      onSuccess: () => {
        notifyDone(`“${run.name}” is gone.`);
        void navigate("/");
      },
    });
  }

  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Purge this run?"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={remove}>
        <Stack gap="md">
          <Text size="sm">
            Its curves, log, checkpoints and replays are deleted for good. To hide it instead, archive it.
          </Text>
          <TextInput
            label={`Type its name to confirm: ${run.name}`}
            value={typed}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red" disabled={!agreed} loading={purge.isPending}>
              Purge run
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
