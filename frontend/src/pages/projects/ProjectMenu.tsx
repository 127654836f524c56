import { ActionIcon, Menu, Stack, Text, TextInput } from "@mantine/core";
import { IconArrowMerge, IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { MAIN_PROJECT_ID, useDeleteProject, useEditProject, useMergeProject } from "@/api/projects";
import type { ProjectSummary } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { useForgetProject } from "@/ui/currentProject";
import { plural } from "@/ui/format";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";
import { ProjectSelect } from "@/ui/ProjectSelect";

interface ProjectMenuProps {
  project: ProjectSummary;
  /** Called with the name of the project that replaces this one, or null if there is none. */
  onGone?: (replacement: string | null) => void;
}

type Dialog = "rename" | "merge" | "delete";

/** Menu to rename, merge and delete a project. */
export function ProjectMenu({ project, onGone }: ProjectMenuProps) {
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const forget = useForgetProject();
  const isMain = project.id === MAIN_PROJECT_ID;
  const refusal = whyNotEmpty(project);
  const close = () => setDialog(null);
  function finish(message: string, replacement: string | null) {
    notifyDone(message);
    close();
    forget(project.name, replacement);
    onGone?.(replacement);
  }
  if (!project.may_administer) return null;
  const shared = { project, onClose: close, onDone: finish };
  return (
    <>
      <Menu width={256} keepMounted={false} position="bottom-end">
        <Menu.Target>
          <ActionIcon size={32} aria-label={`Actions for ${project.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction
            Icon={IconPencil}
            label="Rename…"
            blocked={isMain ? MAIN_STAYS : null}
            onClick={() => setDialog("rename")}
          />
          <MenuAction
            Icon={IconArrowMerge}
            label="Merge into another…"
            blocked={isMain ? MAIN_STAYS : null}
            onClick={() => setDialog("merge")}
          />
          <MenuAction
            Icon={IconTrash}
            label="Delete…"
            blocked={isMain ? MAIN_STAYS : refusal}
            onClick={() => setDialog("delete")}
          />
        </Menu.Dropdown>
      </Menu>
      <RenameModal {...shared} opened={dialog === "rename"} />
      <MergeModal {...shared} opened={dialog === "merge"} />
      <DeleteModal {...shared} opened={dialog === "delete"} />
    </>
  );
}

const MAIN_STAYS = "Main gets everything without a project.";

function whyNotEmpty({ runs, archived_runs, studies, reports, artifacts }: ProjectSummary): string | null {
  const shown = runs + studies + reports + artifacts;
  if (shown + archived_runs === 0) return null;
  return archived_runs > 0 && shown === 0
    ? `It has ${plural(archived_runs, "archived run")}.`
    : "It is not empty.";
}

interface ModalProps {
  project: ProjectSummary;
  opened: boolean;
  onClose: () => void;
  onDone: (message: string, replacement: string | null) => void;
}

function RenameModal({ project, opened, onClose, onDone }: ModalProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const edit = useEditProject(project.id);
  const name = (typed ?? project.name).trim();
  const close = () => {
    setTyped(null);
    edit.reset();
    onClose();
  };
  function submit() {
    edit.mutate(
      { name },
      {
        onSuccess(renamed) {
          setTyped(null);
          onDone(`Renamed ${project.name} to ${renamed.name}.`, renamed.name);
        },
      },
    );
  }
  return (
    <ConfirmModal
      opened={opened}
      title={`Rename ${project.name}`}
      action="Rename"
      busy={edit.isPending}
      disabled={name === "" || name === project.name}
      onConfirm={submit}
      onClose={close}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name !== "" && name !== project.name) submit();
        }}
      >
        <TextInput
          label="Name"
          description="Scripts that name the old project will create it again."
          data-autofocus
          maxLength={100}
          value={typed ?? project.name}
          error={edit.error?.message}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </form>
    </ConfirmModal>
  );
}

function MergeModal({ project, opened, onClose, onDone }: ModalProps) {
  const [into, setInto] = useState<string | null>(null);
  const merge = useMergeProject();
  return (
    <ConfirmModal
      opened={opened}
      title={`Merge ${project.name} into another project`}
      action="Merge"
      danger
      busy={merge.isPending}
      disabled={into === null}
      onConfirm={() =>
        into !== null &&
        merge.mutate(
          { id: project.id, into },
          { onSuccess: ({ name }) => onDone(`Merged ${project.name} into ${name}.`, name) },
        )
      }
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm">
          This moves {contentOf(project)} to the other project, appends the text to its text, and deletes{" "}
          {project.name}. You cannot undo it.
        </Text>
        <ProjectSelect
          label="Into"
          placeholder="Choose a project"
          value={into}
          without={project.name}
          error={merge.error?.message}
          onChange={setInto}
        />
      </Stack>
    </ConfirmModal>
  );
}

function DeleteModal({ project, opened, onClose, onDone }: ModalProps) {
  const remove = useDeleteProject();
  return (
    <ConfirmModal
      opened={opened}
      title={`Delete ${project.name}?`}
      action="Delete project"
      danger
      busy={remove.isPending}
      onConfirm={() =>
        remove.mutate(project.id, { onSuccess: () => onDone(`Deleted ${project.name}.`, null) })
      }
      onClose={onClose}
    >
      <Text size="sm">The project is empty. This permanently deletes its text.</Text>
      {remove.error && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {remove.error.message}
        </Text>
      )}
    </ConfirmModal>
  );
}

function contentOf({ runs, archived_runs, studies, reports }: ProjectSummary): string {
  const parts = [
    runs + archived_runs > 0 && plural(runs + archived_runs, "run"),
    studies > 0 && plural(studies, "study", "studies"),
    reports > 0 && plural(reports, "report"),
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : "nothing";
}
