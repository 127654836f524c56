import { Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isSameProject, projectsQuery, useCreateProject, useMoveItems } from "@/api/projects";
import type { MoveItems } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { plural } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { ProjectSelect } from "@/ui/ProjectSelect";

interface MoveModalProps {
  items?: MoveItems;
  /** Description of the items, such as "3 runs" or "this study and its runs". */
  subject: string;
  /** The project that the items are in, if it is the same for all. */
  from: string | null;
  opened: boolean;
  onClose: () => void;
  onMoved?: () => void;
  /** Moves the items to a project instead, for example because they are not known. */
  onMove?: (project: string) => Promise<void>;
}

/** Dialog that moves runs, studies and reports to another project, or to a new one. */
export function MoveModal(props: MoveModalProps) {
  const { items = {}, subject, from, opened, onClose, onMoved, onMove } = props;
  const [chosen, setChosen] = useState<string | null>(null);
  const [newName, setNewName] = useState("");
  const { data: projects } = useQuery({ ...projectsQuery, enabled: opened });
  const create = useCreateProject();
  const move = useMoveItems();
  const name = newName.trim() || chosen;

  async function submit() {
    if (name === null) return;
    try {
      const known = projects?.find((project) => isSameProject(project.name, name));
      const target = known ?? (await create.mutateAsync({ name }));
      if (onMove) await onMove(target.name);
      else {
        const moved = await move.mutateAsync({ id: target.id, items });
        notifyDone(`Moved ${describe(moved)} to ${target.name}.`);
      }
      setChosen(null);
      setNewName("");
      onClose();
      onMoved?.();
    } catch {
      // The dialog shows the error.
    }
  }

  const error = create.error ?? move.error;
  return (
    <ConfirmModal
      opened={opened}
      title={`Move ${subject}`}
      action="Move"
      disabled={name === null}
      busy={create.isPending || move.isPending}
      onConfirm={() => void submit()}
      onClose={onClose}
    >
      <Stack gap="sm">
        <ProjectSelect
          data-autofocus
          openOnFocus={false}
          label="Project"
          placeholder="Choose a project"
          value={chosen}
          without={from}
          disabled={newName.trim() !== ""}
          comboboxProps={{ withinPortal: true }}
          onChange={setChosen}
        />
        <TextInput
          label="Or a new project"
          placeholder="Name"
          maxLength={100}
          value={newName}
          onChange={(event) => setNewName(event.currentTarget.value)}
        />
        {error && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error.message}
          </Text>
        )}
      </Stack>
    </ConfirmModal>
  );
}

function describe({ runs, studies, reports }: Required<MoveItems>): string {
  const parts = [
    studies.length > 0 && plural(studies.length, "study", "studies"),
    runs.length > 0 && plural(runs.length, "run"),
    reports.length > 0 && plural(reports.length, "report"),
  ];
  return parts.filter(Boolean).join(" and ") || "nothing";
}
