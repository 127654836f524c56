import { Button, Group, Menu, ScrollArea, Text } from "@mantine/core";
import {
  IconBookmark,
  IconCheck,
  IconChevronDown,
  IconDeviceFloppy,
  IconPencil,
  IconPlus,
  IconRestore,
  IconTrash,
} from "@tabler/icons-react";
import { useState } from "react";
import { MAIN_PROJECT } from "@/api/projects";
import { useDeleteView, useEditView } from "@/api/views";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone, notifyProblem } from "@/ui/notify";
import classes from "./ChartPanel.module.css";
import type { SavedViews } from "./useSavedViews";
import { ViewNameModal } from "./ViewNameModal";

interface ViewsMenuProps {
  saved: SavedViews;
  project: string | null;
}

/** Menu of the saved views: open, save, update, rename and delete them. */
export function ViewsMenu({ saved, project }: ViewsMenuProps) {
  const { views, opened, missing, isChanged, query } = saved;
  const [dialog, setDialog] = useState<"save" | "rename" | "delete" | null>(null);
  const edit = useEditView();
  const remove = useDeleteView();
  const close = () => setDialog(null);

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
    <Group gap={8} wrap="nowrap">
      <Menu width={280} position="bottom-start" keepMounted={false}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            h={32}
            leftSection={<IconBookmark size={16} />}
            rightSection={<IconChevronDown size={14} />}
          >
            <span className={classes.viewName}>{opened ? `View: ${opened.name}` : "Views"}</span>
          </Button>
        </Menu.Target>
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
          <Menu.Item leftSection={<IconPlus size={16} />} onClick={() => setDialog("save")}>
            Save as…
          </Menu.Item>
          {opened && (
            <>
              <MenuAction
                Icon={IconDeviceFloppy}
                label={`Update “${opened.name}”`}
                disabled={!isChanged}
                onClick={update}
              />
              <MenuAction
                Icon={IconRestore}
                label="Discard changes"
                disabled={!isChanged}
                onClick={() => saved.open(opened)}
              />
              <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => setDialog("rename")}>
                Rename…
              </Menu.Item>
              <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => setDialog("delete")}>
                Delete…
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Text size="xs" c="dimmed" role="status">
        {missing !== null && `There is no view ${missing} here.`}
        {isChanged && "Unsaved changes"}
      </Text>
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
    </Group>
  );
}
