import { ActionIcon, Button, Group, TextInput, Title, Tooltip } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { useEditRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { ForEditors } from "@/ui/mayEdit";
import { useCatchFocus } from "@/ui/useCatchFocus";

/** Name of a run, editable in place. Enter saves, Escape cancels. */
export function RunTitle({ run }: { run: Run }) {
  const [draft, setDraft] = useState<string | null>(null);
  const edit = useEditRun(run.id);
  const editButton = useCatchFocus<HTMLButtonElement>(draft === null);

  if (draft === null) {
    return (
      <>
        <Title order={1}>{run.name}</Title>
        <ForEditors>
          <Tooltip label="Rename">
            <ActionIcon ref={editButton} size="sm" aria-label="Rename run" onClick={() => setDraft(run.name)}>
              <IconPencil size={16} />
            </ActionIcon>
          </Tooltip>
        </ForEditors>
      </>
    );
  }

  function save(event: FormEvent) {
    event.preventDefault();
    const name = draft?.trim() ?? "";
    if (name === "" || name === run.name) setDraft(null);
    else edit.mutate({ name }, { onSuccess: () => setDraft(null) });
  }

  return (
    <form onSubmit={save} style={{ flex: 1, minWidth: 0 }}>
      <Group gap={8} wrap="nowrap">
        <TextInput
          aria-label="Run name"
          value={draft}
          maxLength={200}
          data-autofocus
          autoFocus
          style={{ flex: 1 }}
          onChange={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && setDraft(null)}
        />
        <Button type="submit" loading={edit.isPending}>
          Save
        </Button>
        <Button variant="default" onClick={() => setDraft(null)}>
          Cancel
        </Button>
      </Group>
    </form>
  );
}
