import { Button, Group, Popover, Stack, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { ApiError } from "@/api/problem";
import { facetsQuery, runQuery, useEditRun } from "@/api/runs";
import type { ListedRun, RunEdit } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { notifyProblem } from "@/ui/notify";
import { normalizeTags } from "@/ui/tags";
import { useIsMounted } from "@/ui/useIsMounted";
import { useStoredDraft } from "@/ui/useStoredDraft";
import { EDITED_FIELDS, type EditedField } from "./editedFields";

/** The changed fields. The others show what the run has, which may change while the form is open. */
interface Draft {
  name?: string;
  tags?: string[];
  notes?: string;
}

interface RunEditorProps {
  run: ListedRun;
  /** The field that gets the focus. */
  field: EditedField;
  onClose: () => void;
}

/** The form below a row. Double clicks in it are not clicks on the row. */
export function RunEditorDropdown(props: RunEditorProps) {
  return (
    <Popover.Dropdown
      role="dialog"
      aria-label={`Edit ${props.run.name}`}
      onDoubleClick={(event) => event.stopPropagation()}
    >
      <RunEditor {...props} />
    </Popover.Dropdown>
  );
}

/** Form for the name, tags and notes of a run. The browser tab keeps the draft until it is saved or canceled. */
function RunEditor({ run, field, onClose }: RunEditorProps) {
  const draft = useStoredDraft<Draft>(`arcadia-edit-run-${run.id}`, {});
  const [isNameMissing, setNameMissing] = useState(false);
  const detail = useQuery(runQuery(run.id));
  const project = useCurrentProject();
  const { data: facets } = useQuery(facetsQuery(false, project));
  const isMounted = useIsMounted();
  const edit = useEditRun(run.id, {
    onSaved: draft.forget,
    onFailed: (error) => {
      // The row may be out of view by now.
      if (!isMounted()) notifyProblem(error);
    },
  });
  const notes = draft.value.notes ?? detail.data?.notes ?? run.notes;
  const changes = changesOf(draft.value, run, detail.data?.notes ?? run.notes);

  function save(event?: FormEvent) {
    event?.preventDefault();
    if (edit.isPending) return;
    if (changes.name === "") setNameMissing(true);
    else if (Object.keys(changes).length === 0) cancel();
    else edit.mutate(changes, { onSuccess: onClose });
  }

  function cancel() {
    draft.forget();
    onClose();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Escape") {
      event.stopPropagation();
      cancel();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
  }

  const errors = errorsOf(edit.error);
  return (
    <form onSubmit={save} onKeyDown={onKeyDown}>
      <Stack gap="xs">
        <TextInput
          label="Name"
          size="xs"
          maxLength={200}
          data-autofocus={field === "name" || undefined}
          value={draft.value.name ?? run.name}
          error={isNameMissing ? "Enter a name." : errors.name}
          onChange={(event) => {
            setNameMissing(false);
            draft.change({ name: event.currentTarget.value });
          }}
        />
        <TagsInput
          label="Tags"
          size="xs"
          placeholder="Add tag"
          data-autofocus={field === "tags" || undefined}
          data={facets?.tag.map(({ value }) => value) ?? []}
          comboboxProps={{ withinPortal: false }}
          value={draft.value.tags ?? run.tags}
          error={errors.tags}
          onChange={(tags) => draft.change({ tags: normalizeTags(tags) })}
        />
        <Textarea
          label="Notes"
          size="xs"
          autosize
          minRows={2}
          maxRows={8}
          data-autofocus={field === "notes" || undefined}
          placeholder={notes === undefined ? "Loading notes…" : "Add notes"}
          readOnly={notes === undefined}
          value={notes ?? ""}
          error={errors.notes ?? (notes === undefined && detail.error?.message)}
          onChange={(event) => draft.change({ notes: event.currentTarget.value })}
        />
        {errors.other && (
          <Text size="xs" c="red" role="alert">
            {errors.other} Your changes are kept here.
          </Text>
        )}
        <Group gap="xs" justify="flex-end">
          <Button size="xs" variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button size="xs" type="submit" loading={edit.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Return the fields that differ from the run's. */
function changesOf(draft: Draft, run: ListedRun, notes: string | undefined): RunEdit {
  const name = draft.name?.trim();
  return {
    ...(name !== undefined && name !== run.name && { name }),
    ...(draft.tags && draft.tags.join() !== run.tags.join() && { tags: draft.tags }),
    ...(draft.notes !== undefined && draft.notes !== notes && { notes: draft.notes }),
  };
}

/** Return the messages by field. A message without a field is `other`. */
function errorsOf(error: Error | null): Partial<Record<EditedField | "other", string>> {
  if (!error) return {};
  const fields = EDITED_FIELDS.flatMap((field) => {
    const found =
      error instanceof ApiError && error.fieldErrors.find((problem) => problem.field.startsWith(field));
    return found ? [[field, found.message] as const] : [];
  });
  return fields.length > 0 ? Object.fromEntries(fields) : { other: error.message };
}
