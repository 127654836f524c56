import { Button, Stack } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { useEffect } from "react";
import { useNavigate } from "react-router";
import { useOpenExamples } from "@/api/archives";
import { isSubmitted } from "@/api/mutationState";
import { loadPlotly } from "@/charts/plotly";
import { useCurrentProject } from "@/ui/currentProject";
import { QueryError } from "@/ui/QueryError";

/** Button that imports the examples and opens the report about them. */
export function OpenExamples() {
  const navigate = useNavigate();
  const project = useCurrentProject();
  const examples = useOpenExamples(({ reports, already_reports }) => {
    const [report] = [...reports, ...already_reports];
    void navigate(report === undefined ? "/" : `/reports/${report}`);
  });
  // The report starts with charts. A chart retries if this fails.
  useEffect(() => {
    loadPlotly().catch(() => undefined);
  }, []);
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="default"
        leftSection={<IconSparkles size={16} />}
        loading={isSubmitted(examples)}
        onClick={() => examples.mutate(project)}
      >
        Open examples
      </Button>
      {examples.isError && <QueryError error={examples.error} />}
    </Stack>
  );
}
