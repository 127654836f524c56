import { Anchor, Button, Group, Stack, Title } from "@mantine/core";
import { IconFolder } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { inProject, projectAddress } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";

interface FirstRunOfProjectProps {
  project: string;
  /** The button that imports archive files. */
  children: ReactNode;
}

/** List of runs of a project that has none. It says how runs get there. */
export function FirstRunOfProject({ project, children }: FirstRunOfProjectProps) {
  return (
    <>
      <Title order={1}>Runs</Title>
      <EmptyState icon={IconFolder} title={`No runs in ${project}`}>
        <Stack align="center" gap="md">
          <span>
            Launch a run here, or select runs{" "}
            <Anchor component={Link} to={inProject("/", null)} inherit>
              in all projects
            </Anchor>{" "}
            and press “Move”.
          </span>
          <Group gap="xs" justify="center">
            <Button component={Link} to={inProject("/launch", project)} size="xs">
              Launch run
            </Button>
            {children}
            <Button component={Link} to={projectAddress(project)} size="xs" variant="default">
              Open project
            </Button>
          </Group>
        </Stack>
      </EmptyState>
    </>
  );
}
