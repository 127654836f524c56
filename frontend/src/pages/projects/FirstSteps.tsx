import { Anchor, Button, Group, Stack } from "@mantine/core";
import { IconFolder } from "@tabler/icons-react";
import { Link } from "react-router";
import type { Project } from "@/api/types";
import { OpenExamples } from "@/run-actions/OpenExamples";
import { inProject } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";

/** First steps in an empty project. */
export function FirstSteps({ project }: { project: Project }) {
  return (
    <EmptyState icon={IconFolder} title="This project is empty">
      <Stack align="center" gap="md">
        <span>
          Launch a run or start a study. To bring existing runs here, select them{" "}
          <Anchor component={Link} to={inProject("/", null)} inherit>
            in the list of all runs
          </Anchor>{" "}
          and press “Move”. Scripts log here with{" "}
          <code>{`arcadia.init(project=${JSON.stringify(project.name)})`}</code>.
        </span>
        <Group gap="xs" justify="center" align="start">
          <Button component={Link} to={inProject("/launch", project.name)}>
            Launch run
          </Button>
          <Button component={Link} to={`${inProject("/launch", project.name)}&study=new`} variant="default">
            New study
          </Button>
          <OpenExamples />
        </Group>
      </Stack>
    </EmptyState>
  );
}
