import { TextInput } from "@mantine/core";
import { useState } from "react";
import type { SavedView } from "@/api/types";
import { useCreateView, useEditView } from "@/api/views";
import { ConfirmModal } from "@/ui/ConfirmModal";

interface ViewNameModalProps {
  /** The view to rename. Without it, a view is saved. */
  renamed: SavedView | undefined;
  query: string;
  project: string | null;
  onDone: (view: SavedView) => void;
  onClose: () => void;
}

/** Dialog with the name of a view. It saves a new view, or renames one. */
export function ViewNameModal({ renamed, query, project, onDone, onClose }: ViewNameModalProps) {
  const [name, setName] = useState(renamed?.name ?? "");
  const create = useCreateView();
  const edit = useEditView();
  const given = name.trim();
  function submit() {
    if (given === "") return;
    if (renamed) edit.mutate({ id: renamed.id, name: given }, { onSuccess: onDone });
    else create.mutate({ name: given, query, ...(project !== null && { project }) }, { onSuccess: onDone });
  }
  return (
    <ConfirmModal
      opened
      title={renamed ? "Rename view" : "Save view"}
      action={renamed ? "Rename view" : "Save view"}
      disabled={given === ""}
      busy={create.isPending || edit.isPending}
      onConfirm={submit}
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextInput
          label="Name"
          data-autofocus
          maxLength={100}
          value={name}
          error={(create.error ?? edit.error)?.message}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </form>
    </ConfirmModal>
  );
}
