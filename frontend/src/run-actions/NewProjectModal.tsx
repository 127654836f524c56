import { TextInput } from "@mantine/core";
import { useState } from "react";
import { useCreateProject } from "@/api/projects";
import type { Project } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";

interface NewProjectModalProps {
  opened: boolean;
  onClose: () => void;
  onCreated: (project: Project) => void;
}

/** Dialog that creates a project. */
export function NewProjectModal({ opened, onClose, onCreated }: NewProjectModalProps) {
  const [name, setName] = useState("");
  const create = useCreateProject();
  function submit() {
    create.mutate(
      { name: name.trim() },
      {
        onSuccess(project) {
          setName("");
          onClose();
          onCreated(project);
        },
      },
    );
  }
  return (
    <ConfirmModal
      opened={opened}
      title="New project"
      action="Create project"
      disabled={name.trim() === ""}
      busy={create.isPending}
      onConfirm={submit}
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") submit();
        }}
      >
        <TextInput
          label="Name"
          data-autofocus
          maxLength={100}
          value={name}
          error={create.error?.message}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </form>
    </ConfirmModal>
  );
}
