import { Button, Stack, Text } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { useOpenExamples } from "@/api/archives";
import { useLiveEvents } from "@/api/live/LiveProvider";
import { ofAny } from "@/api/topics";
import { isSubmitted } from "@/api/mutationState";
import { loadPlotly } from "@/charts/plotly";
import { useCurrentProject } from "@/ui/currentProject";
import { QueryError } from "@/ui/QueryError";

/** What the examples are. */
export const ABOUT_EXAMPLES =
  "Curves, replays, evaluations and a comparison of agents that land on the moon, play Pong and Breakout, search a " +
  "labyrinth, and balance poles and pendulums, trained by several methods. Finished reviews, a practice and a What " +
  "if are among them. They have the tag “example”.";

/** Button that imports the examples and opens the report about them. */
export function OpenExamples() {
  const navigate = useNavigate();
  const project = useCurrentProject();
  const examples = useOpenExamples(({ reports, already_reports }) => {
    const [report] = [...reports, ...already_reports];
    void navigate(report === undefined ? "/" : `/reports/${report}`);
  });
  const isPending = isSubmitted(examples);
  // The report starts with charts. A chart retries if this fails.
  useEffect(() => {
    loadPlotly().catch(() => undefined);
  }, []);
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="default"
        leftSection={<IconSparkles size={16} />}
        loading={isPending}
        onClick={() => examples.mutate(project)}
      >
        Open examples
      </Button>
      {isPending && <ImportProgress />}
      {examples.isError && <QueryError error={examples.error} />}
    </Stack>
  );
}

/** Number of the run that is being imported. */
function ImportProgress() {
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  useLiveEvents(ofAny("import.progress"), (event) => {
    if (event.kind === "import.progress") setProgress({ done: event.done, total: event.total });
  });
  return (
    <Text size="sm" c="dimmed" role="status">
      {progress === null
        ? "Reading the examples…"
        : progress.done < progress.total
          ? `Importing run ${progress.done + 1} of ${progress.total}…`
          : "Importing the report…"}
    </Text>
  );
}
