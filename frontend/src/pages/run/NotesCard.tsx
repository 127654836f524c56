import { Stack, TagsInput, Textarea, Title } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useEditRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { useMayEdit } from "@/ui/mayEdit";
import { tabStorage } from "@/ui/pageStorage";
import { normalizeTags } from "@/ui/tags";
import classes from "./run.module.css";

/** Tags and notes, saved on blur. The browser stores unsaved notes. */
export function NotesCard({ run }: { run: Run }) {
  const mayEdit = useMayEdit();
  const storageKey = `arcadia-notes-${run.id}`;
  // The unsaved text. Without one, show the run's notes, which another tab may change.
  const [draft, setDraft] = useState(() => tabStorage.read<string>(storageKey));
  const editNotes = useEditRun(run.id, {
    onSaved({ notes }) {
      if (tabStorage.read(storageKey) === notes) tabStorage.forget(storageKey);
      setDraft((now) => (now === notes ? null : now));
    },
  });
  const editTags = useEditRun(run.id);
  // While a change is being saved, add the next tag to the unsaved tags.
  const tags = (editTags.isPending ? editTags.variables.tags : null) ?? run.tags;

  function changeNotes(notes: string) {
    tabStorage.keep(storageKey, notes);
    setDraft(notes);
  }

  function save() {
    if (draft === null) return;
    if (draft === run.notes) {
      tabStorage.forget(storageKey);
      setDraft(null);
    } else if (!editNotes.isPending || editNotes.variables.notes !== draft) {
      editNotes.mutate({ notes: draft });
    }
  }

  // Navigation removes the field without a blur event, so save on unmount.
  const saveOnUnmount = useRef(save);
  useEffect(() => {
    saveOnUnmount.current = save;
  });
  useEffect(() => () => saveOnUnmount.current(), []);

  return (
    <section className={classes.card} aria-label="Tags and notes">
      <Stack gap="xs">
        <Title order={2}>Tags and notes</Title>
        <TagsInput
          aria-label="Tags"
          placeholder={tags.length > 0 ? undefined : mayEdit ? "Add tag" : "No tags"}
          readOnly={!mayEdit}
          value={tags}
          onChange={(chosen) => editTags.mutate({ tags: normalizeTags(chosen) })}
        />
        <Textarea
          aria-label="Notes"
          placeholder={mayEdit ? "Add notes" : "No notes"}
          readOnly={!mayEdit}
          autosize
          minRows={2}
          maxRows={16}
          value={draft ?? run.notes}
          description={editNotes.isPending ? "Saving…" : undefined}
          onChange={(event) => changeNotes(event.currentTarget.value)}
          onBlur={save}
        />
      </Stack>
    </section>
  );
}
