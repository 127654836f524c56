import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import type { ListedRun } from "@/api/types";
import { plural } from "@/ui/format";

interface PurgeFormProps {
  runs: readonly ListedRun[];
  /** Number of runs, if these are not all. */
  count?: number;
  busy: boolean;
  onConfirm: () => void;
  onClose: () => void;
  /** Further information, such as the skipped runs. */
  children?: ReactNode;
}

const describeRuns = ([first]: readonly ListedRun[], count: number) =>
  first && count === 1 ? `run ${first.id}` : plural(count, "run");

/** Further runs are only counted. */
const MAX_NAMED_RUNS = 10;

function listNames(runs: readonly ListedRun[], count: number): string {
  if (runs.length < count) return plural(count, "run");
  const named = runs.slice(0, MAX_NAMED_RUNS).map(({ id, name }) => `#${id} ${name}`);
  return [...named, ...(runs.length > MAX_NAMED_RUNS ? [`${runs.length - MAX_NAMED_RUNS} more`] : [])].join(
    ", ",
  );
}

/** Confirmation dialog for purging. The user types the number of the run, or the count of several runs. */
export function PurgeModal({ opened, ...form }: PurgeFormProps & { opened: boolean }) {
  const { runs, count = runs.length } = form;
  return (
    <Modal
      opened={opened}
      onClose={form.onClose}
      title={`Purge ${describeRuns(runs, count)}?`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <PurgeForm {...form} />
    </Modal>
  );
}

function PurgeForm({ runs, count = runs.length, busy, onConfirm, onClose, children }: PurgeFormProps) {
  const [typed, setTyped] = useState("");
  const [first] = runs;
  const expected = String(first && count === 1 ? first.id : count);
  const isConfirmed = typed.trim().replace(/^#/, "") === expected;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (isConfirmed) onConfirm();
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">
          {listNames(runs, count)}: this permanently deletes curves, logs, checkpoints and replays. To only
          hide runs, archive them.
        </Text>
        {children}
        <TextInput
          label={`Type ${expected} to confirm`}
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
          <Button type="submit" color="red.8" disabled={!isConfirmed} loading={busy}>
            Purge {describeRuns(runs, count)}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
