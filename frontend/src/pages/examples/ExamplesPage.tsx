import { Stack, Text, Title } from "@mantine/core";
import { useMayWrite } from "@/api/projects";
import { ABOUT_EXAMPLES, OpenExamples } from "@/run-actions/OpenExamples";
import classes from "@/ui/sheet.module.css";
import { usePageTitle } from "@/ui/usePageTitle";

/** Page that opens the examples at any time. */
export default function ExamplesPage() {
  usePageTitle("Examples");
  const mayWrite = useMayWrite();
  return (
    <Stack className={classes.sheet} gap="md">
      <Title order={1}>Examples</Title>
      <Text size="sm" maw={640}>
        {ABOUT_EXAMPLES} What you already have is not imported again, and your own runs stay as they are.
      </Text>
      {mayWrite ? (
        <OpenExamples />
      ) : (
        <Text size="sm" c="dimmed">
          Opening them adds runs, and you have no project to which you may add runs. Ask an administrator of a
          project for the role of an editor.
        </Text>
      )}
    </Stack>
  );
}
