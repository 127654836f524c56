import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Run } from "@/api/types";
import { plural } from "@/ui/format";

interface PurgeFormProps {
  runs: readonly Run[];
  busy: boolean;
  onConfirm: () => void;
  onClose: () => void;
  /** What else is to be known, such as the runs left out. */
  children?: ReactNode;
}

const whatOf = ([first, ...others]: readonly Run[]) =>
  first && others.length === 0 ? `run ${first.id}` : plural(others.length + 1, "run");

/** More runs than this are not named one by one. */
const NAMED = 10;

function namesOf(runs: readonly Run[]): string {
  const named = runs.slice(0, NAMED).map(({ id, name }) => `#${id} ${name}`);
  return [...named, ...(runs.length > NAMED ? [`${runs.length - NAMED} more`] : [])].join(", ");
}

/** Asks before runs are deleted for good: one is confirmed by its number, many by how many they are. */
export function PurgeModal({ opened, ...form }: PurgeFormProps & { opened: boolean }) {
  return (
    <Modal
      opened={opened}
      onClose={form.onClose}
      title={`Purge ${whatOf(form.runs)}?`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <PurgeForm {...form} />
    </Modal>
  );
}

function PurgeForm({ runs, busy, onConfirm, onClose, children }: PurgeFormProps) {
  const [typed, setTyped] = useState("");
  const [first, second] = runs;
  const asked = String(second ? runs.length : first?.id);
  const agreed = typed.trim().replace(/^#/, "") === asked;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (agreed) onConfirm();
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">
          {namesOf(runs)}: curves, logs, checkpoints and replays are deleted for good. Archiving would only
          hide them.
        </Text>
        {children}
        <TextInput
          label={second ? `Type how many to confirm: ${asked}` : `Type its number to confirm: ${asked}`}
          value={typed}
          autoComplete="off"
          inputMode="numeric"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red.8" disabled={!agreed} loading={busy}>
            Purge {whatOf(runs)}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
