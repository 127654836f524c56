import { Menu, ScrollArea, Text, TextInput } from "@mantine/core";
import {
  IconCheck,
  IconDeviceFloppy,
  IconPencil,
  IconPlus,
  IconRestore,
  IconTrash,
} from "@tabler/icons-react";
import { useState } from "react";
import { MAIN_PROJECT, useMayWrite } from "@/api/projects";
import type { SavedView } from "@/api/types";
import { useCreateView, useDeleteView, useEditView } from "@/api/views";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone, notifyProblem } from "@/ui/notify";
import type { SavedViews } from "./useSavedViews";

export interface ViewsMenuProps {
  saved: SavedViews;
  project: string | null;
}

/** Items of the menu of saved views, which open, save, update, rename and delete them, and their dialogs. */
export function ViewsMenuContent({ saved, project }: ViewsMenuProps) {
  const { views, opened, isChanged, query } = saved;
  const [dialog, setDialog] = useState<"save" | "rename" | "delete" | null>(null);
  const edit = useEditView();
  const remove = useDeleteView();
  const close = () => setDialog(null);
  const mayWrite = useMayWrite();

  function update() {
    if (!opened) return;
    edit.mutate(
      { id: opened.id, query },
      { onSuccess: ({ name }) => notifyDone(`Updated ${name}.`), onError: notifyProblem },
    );
  }

  function confirmDelete() {
    if (!opened) return;
    remove.mutate(opened.id, {
      onSuccess() {
        notifyDone(`Deleted ${opened.name}.`);
        saved.close();
        close();
      },
    });
  }

  return (
    <>
      <Menu.Dropdown>
        {views.length === 0 && <Menu.Label>Save filters, columns and charts under a name.</Menu.Label>}
        <ScrollArea.Autosize mah={280} type="auto">
          {views.map((view) => (
            <Menu.Item
              key={view.id}
              leftSection={view.id === opened?.id ? <IconCheck size={16} aria-label="Opened" /> : <i />}
              onClick={() => saved.open(view)}
            >
              {view.name}
              {project === null && view.project !== MAIN_PROJECT && (
                <Text span size="xs" c="dimmed">{` · ${view.project}`}</Text>
              )}
            </Menu.Item>
          ))}
        </ScrollArea.Autosize>
        <Menu.Divider />
        {mayWrite && (
          <Menu.Item leftSection={<IconPlus size={16} />} onClick={() => setDialog("save")}>
            Save as…
          </Menu.Item>
        )}
        {opened && (
          <>
            {opened.may_edit && (
              <MenuAction
                Icon={IconDeviceFloppy}
                label={`Update “${opened.name}”`}
                disabled={!isChanged}
                onClick={update}
              />
            )}
            <MenuAction
              Icon={IconRestore}
              label="Discard changes"
              disabled={!isChanged}
              onClick={() => saved.open(opened)}
            />
            {opened.may_edit && (
              <>
                <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => setDialog("rename")}>
                  Rename…
                </Menu.Item>
                <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => setDialog("delete")}>
                  Delete…
                </Menu.Item>
              </>
            )}
          </>
        )}
      </Menu.Dropdown>
      {(dialog === "save" || dialog === "rename") && (
        <ViewNameModal
          renamed={dialog === "rename" ? opened : undefined}
          query={query}
          project={project}
          onDone={(view) => {
            notifyDone(`Saved ${view.name}.`);
            if (dialog === "save") saved.open(view, { replace: true });
            close();
          }}
          onClose={close}
        />
      )}
      <ConfirmModal
        opened={dialog === "delete"}
        title={`Delete the view ${opened?.name ?? ""}?`}
        action="Delete view"
        danger
        busy={remove.isPending}
        onConfirm={confirmDelete}
        onClose={close}
      >
        The runs stay. Links to the view stop working.
      </ConfirmModal>
    </>
  );
}

interface ViewNameModalProps {
  /** The view to rename. Without it, a view is saved. */
  renamed: SavedView | undefined;
  query: string;
  project: string | null;
  onDone: (view: SavedView) => void;
  onClose: () => void;
}

/** Dialog with the name of a view. It saves a new view, or renames one. */
function ViewNameModal({ renamed, query, project, onDone, onClose }: ViewNameModalProps) {
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
