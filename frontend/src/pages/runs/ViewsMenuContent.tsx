import { Menu, ScrollArea, Text } from "@mantine/core";
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
import { useDeleteView, useEditView } from "@/api/views";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone, notifyProblem } from "@/ui/notify";
import type { SavedViews } from "./useSavedViews";
import { ViewNameModal } from "./ViewNameModal";

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
