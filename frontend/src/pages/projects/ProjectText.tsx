import { Button, Group, Stack, Text, Textarea, Title } from "@mantine/core";
import { useState } from "react";
import { useEditProject } from "@/api/projects";
import type { Project } from "@/api/types";
import { Markdown } from "@/ui/Markdown";
import { tabStorage } from "@/ui/pageStorage";
import classes from "./projects.module.css";

const MAX_LENGTH = 50_000;

/** The text of a project, and its editor. The browser keeps an unsaved text. */
export function ProjectText({ project }: { project: Project }) {
  const key = `arcadia-project-text-${project.id}`;
  const [draft, setDraft] = useState(() => tabStorage.read<string>(key));
  const edit = useEditProject(project.id);

  function change(text: string) {
    tabStorage.keep(key, text);
    setDraft(text);
  }

  function close() {
    tabStorage.forget(key);
    setDraft(null);
    edit.reset();
  }

  return (
    <section className={classes.card} aria-label="About">
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2}>About</Title>
          {draft === null && project.may_administer && (
            <Button variant="default" size="xs" onClick={() => setDraft(project.text)}>
              {project.text ? "Edit text" : "Add text"}
            </Button>
          )}
        </Group>
        {draft !== null ? (
          <>
            <Textarea
              aria-label="Text"
              description="Markdown."
              autosize
              autoFocus
              minRows={4}
              maxRows={24}
              maxLength={MAX_LENGTH}
              value={draft}
              error={edit.error?.message}
              onChange={(event) => change(event.currentTarget.value)}
            />
            <Group gap="xs">
              <Button
                size="xs"
                loading={edit.isPending}
                onClick={() => edit.mutate({ text: draft }, { onSuccess: close })}
              >
                Save text
              </Button>
              <Button size="xs" variant="default" onClick={close}>
                Cancel
              </Button>
            </Group>
          </>
        ) : project.text ? (
          <Markdown>{project.text}</Markdown>
        ) : (
          <Text size="sm" c="dimmed">
            No text yet.
            {project.may_administer &&
              " Write down what this project is about: the question, the plan, the results."}
          </Text>
        )}
      </Stack>
    </section>
  );
}
