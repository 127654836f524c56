import { Stack, TagsInput, Textarea, Title } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useEditRun } from "@/api/mutations";
import type { Run } from "@/api/types";
import { tidyTags } from "@/ui/tags";
import classes from "./run.module.css";

/** Tags and notes; both are kept as soon as they are left. */
export function NotesCard({ run }: { run: Run }) {
  const edit = useEditRun(run.id);
  const tagging = useEditRun(run.id);
  // While they are being kept, the next tag is added to those chosen.
  const tags = (tagging.isPending ? tagging.variables.tags : null) ?? run.tags;
  // While being written it is the text typed; otherwise the run's, which another tab may change.
  const [typed, setTyped] = useState<string | null>(null);

  function keep() {
    if (typed === null || typed === run.notes) setTyped(null);
    else if (!edit.isPending || edit.variables.notes !== typed)
      edit.mutate({ notes: typed }, { onSuccess: () => setTyped((now) => (now === typed ? null : now)) });
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
          onChange={(event) => setTyped(event.currentTarget.value)}
          onBlur={keep}
        />
      </Stack>
    </section>
  );
}
