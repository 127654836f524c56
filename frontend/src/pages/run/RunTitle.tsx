import { ActionIcon, Button, Group, TextInput, Title, Tooltip } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { useEditRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { useCatchFocus } from "@/ui/useCatchFocus";

/** The name of a run, changed in its place: Enter keeps, Escape leaves it as it was. */
export function RunTitle({ run }: { run: Run }) {
  const [typed, setTyped] = useState<string | null>(null);
  const edit = useEditRun(run.id);
  const pencil = useCatchFocus<HTMLButtonElement>(typed === null);

  if (typed === null) {
    return (
      <>
        <Title order={1}>{run.name}</Title>
        <Tooltip label="Rename">
          <ActionIcon ref={pencil} size="sm" aria-label="Rename the run" onClick={() => setTyped(run.name)}>
            <IconPencil size={16} />
          </ActionIcon>
        </Tooltip>
      </>
    );
  }

  function keep(event: FormEvent) {
    event.preventDefault();
    const name = typed?.trim() ?? "";
    if (name === "" || name === run.name) setTyped(null);
    else edit.mutate({ name }, { onSuccess: () => setTyped(null) });
  }

  return (
    <form onSubmit={keep} style={{ flex: 1, minWidth: 0 }}>
      <Group gap={8} wrap="nowrap">
        <TextInput
          aria-label="Name of the run"
          value={typed}
          maxLength={200}
          data-autofocus
          autoFocus
          style={{ flex: 1 }}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && setTyped(null)}
        />
        <Button type="submit" loading={edit.isPending}>
          Keep
        </Button>
        <Button variant="default" onClick={() => setTyped(null)}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}
