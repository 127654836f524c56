import { Button, Group, Modal, Stack, Textarea } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import type { NewPerson } from "@/api/types";
import { ApiError } from "@/api/problem";
import { FormErrors } from "./FormErrors";
import { toSentence } from "./format";

/** Return the people of a text with one per line, such as: Ana Silva <ana@example.org>. */
export function readPeople(text: string): { people: NewPerson[]; problem: string | null } {
  const people: NewPerson[] = [];
  for (const line of text.split("\n")) {
    const words = line.split(/[\s,;<>]+/).filter(Boolean);
    const email = words.find((word) => word.includes("@"));
    if (words.length === 0) continue;
    if (!email) return { people, problem: `“${line.trim()}” has no e-mail address.` };
    const name = words.filter((word) => word !== email).join(" ");
    people.push({ name: name || (email.split("@")[0] ?? email), email });
  }
  return { people, problem: null };
}

/** Return what the server says about a request, with the number of the person. */
function messagesOf(error: Error): string[] {
  if (!(error instanceof ApiError) || error.fieldErrors.length === 0) return [error.message];
  return error.fieldErrors.map(({ field, message }) => {
    const index = /people\.(\d+)\./.exec(field)?.[1];
    return index ? `Person ${Number(index) + 1}: ${message}.` : toSentence(message);
  });
}

interface InviteDialogProps {
  error: Error | null;
  isPending: boolean;
  onSubmit: (people: NewPerson[]) => void;
  onClose: () => void;
  /** Further fields. */
  children: ReactNode;
}

/** Dialog to invite people, with one line for each. */
export function InviteDialog({ error, isPending, onSubmit, onClose, children }: InviteDialogProps) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);

  function submit(event: FormEvent) {
    event.preventDefault();
    const read = readPeople(text);
    setProblem(read.problem);
    if (!read.problem) onSubmit(read.people);
  }

  return (
    <Modal opened onClose={onClose} title="Invite people" closeButtonProps={{ "aria-label": "Close" }}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Textarea
            data-autofocus
            label="People"
            description="One per line: name and e-mail address. They sign in with the address."
            placeholder={"Ana Silva ana@example.org\nBo Berg bo@example.org"}
            autosize
            minRows={3}
            maxRows={12}
            spellCheck={false}
            value={text}
            error={problem}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {children}
          <FormErrors messages={error ? messagesOf(error) : []} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending} disabled={!text.trim()}>
              Create links
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
