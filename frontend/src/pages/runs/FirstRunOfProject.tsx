import { Anchor, Button, Group, Stack, Title } from "@mantine/core";
import { IconFolder } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { isSameProject, projectsQuery } from "@/api/projects";
import { inProject, projectAddress } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";

interface FirstRunOfProjectProps {
  /** Null for all projects of a person who may launch nothing. */
  project: string | null;
  /** The button that imports archive files. */
  children: ReactNode;
}

/** List of runs of a project that has none. It says how runs get there. */
export function FirstRunOfProject({ project, children }: FirstRunOfProjectProps) {
  const { data = [] } = useQuery(projectsQuery);
  const mayEdit = data.some((each) => each.may_edit && project !== null && isSameProject(each.name, project));
  return (
    <>
      <Title order={1}>Runs</Title>
      <EmptyState icon={IconFolder} title={project === null ? "No runs" : `No runs in ${project}`}>
        <Stack align="center" gap="md">
          {mayEdit ? (
            <span>
              Launch a run here, or select runs{" "}
              <Anchor component={Link} to={inProject("/", null)} inherit>
                in all projects
              </Anchor>{" "}
              and press “Move”.
            </span>
          ) : (
            <span>
              Runs that others launch appear here. To launch runs yourself, ask an administrator for the role
              Editor.
            </span>
          )}
          <Group gap="xs" justify="center">
            {mayEdit && (
              <Button component={Link} to={inProject("/launch", project)} size="xs">
                Launch run
              </Button>
            )}
            {children}
            {project !== null && (
              <Button component={Link} to={projectAddress(project)} size="xs" variant="default">
                Open project
              </Button>
            )}
          </Group>
        </Stack>
      </EmptyState>
    </>
  );
}
