import { Stack, TagsInput, Textarea, Title } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useEditRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { inTab } from "@/ui/kept";
import { tidyTags } from "@/ui/tags";
import classes from "./run.module.css";

/** Tags and notes; both are saved as soon as they are left, and until then the browser keeps the notes. */
export function NotesCard({ run }: { run: Run }) {
  const place = `arcadia-notes-${run.id}`;
  // While being written it is the text typed; otherwise the run's, which another tab may change.
  const [typed, setTyped] = useState(() => inTab.read<string>(place));
  const edit = useEditRun(run.id, ({ notes }) => {
    if (inTab.read(place) === notes) inTab.forget(place);
    setTyped((now) => (now === notes ? null : now));
  });
  const tagging = useEditRun(run.id);
  // While they are being kept, the next tag is added to those chosen.
  const tags = (tagging.isPending ? tagging.variables.tags : null) ?? run.tags;

  function write(notes: string) {
    inTab.keep(place, notes);
    setTyped(notes);
  }

  function keep() {
    if (typed === null) return;
    if (typed === run.notes) {
      inTab.forget(place);
      setTyped(null);
    } else if (!edit.isPending || edit.variables.notes !== typed) {
      edit.mutate({ notes: typed });
    }
  }

  // The way back leaves them too, and takes the field off the page before it could tell.
  const leave = useRef(keep);
  useEffect(() => {
    leave.current = keep;
  });
  useEffect(() => () => leave.current(), []);

  return (
    <section className={classes.card} aria-label="Tags and notes">
      <Stack gap="xs">
        <Title order={2}>Tags and notes</Title>
        <TagsInput
          aria-label="Tags"
          placeholder={tags.length === 0 ? "Add a tag, then Enter" : undefined}
          value={tags}
          onChange={(chosen) => tagging.mutate({ tags: tidyTags(chosen) })}
        />
        <Textarea
          aria-label="Notes"
          placeholder="What you tried, what you saw"
          autosize
          minRows={2}
          maxRows={16}
          value={typed ?? run.notes}
          description={edit.isPending ? "Saving…" : undefined}
          onChange={(event) => write(event.currentTarget.value)}
          onBlur={keep}
        />
      </Stack>
    </section>
  );
}
