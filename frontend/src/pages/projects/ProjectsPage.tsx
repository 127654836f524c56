import { Anchor, Button, Group, Skeleton, Stack, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { projectsQuery } from "@/api/projects";
import type { ProjectSummary } from "@/api/types";
import { NewProjectModal } from "@/run-actions/NewProjectModal";
import { inProject, projectAddress } from "@/ui/currentProject";
import { exact } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { WideTable } from "@/ui/WideTable";
import { ProjectMenu } from "./ProjectMenu";
import classes from "./projects.module.css";

/** List of projects. */
export default function ProjectsPage() {
  usePageTitle("Projects");
  const projects = useQuery(projectsQuery);
  const navigate = useNavigate();
  const [isNewOpen, newDialog] = useDisclosure(false);
  return (
    <Stack className={classes.sheet} gap="md">
      <Group justify="space-between" align="start">
        <Stack gap={4}>
          <Title order={1}>Projects</Title>
          <Text size="sm" c="dimmed">
            Every run, study and report belongs to one project. New ones go to Main by default.
          </Text>
        </Stack>
        <Button leftSection={<IconPlus size={16} />} h={32} px="sm" onClick={newDialog.open}>
          New project
        </Button>
      </Group>
      {projects.isError && !projects.data && (
        <QueryError error={projects.error} retry={() => void projects.refetch()} />
      )}
      {projects.isPending && (
        <Skeleton height={160} radius="sm" role="status" aria-label="Loading projects…" />
      )}
      {projects.data && <ProjectTable projects={projects.data} />}
      {projects.data?.length === 1 && (
        <Text size="sm" c="dimmed">
          Create a project to separate work, such as one question or one person’s runs. To move runs there,
          select them on the page of runs and press “Move”.
        </Text>
      )}
      <NewProjectModal
        opened={isNewOpen}
        onClose={newDialog.close}
        onCreated={({ name }) => void navigate(projectAddress(name))}
      />
    </Stack>
  );
}

function ProjectTable({ projects }: { projects: readonly ProjectSummary[] }) {
  return (
    <WideTable label="Projects" className={classes.card}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Project</Table.Th>
            <Table.Th scope="col" className={classes.number}>
              Runs
            </Table.Th>
            <Table.Th scope="col" className={classes.number}>
              Training
            </Table.Th>
            <Table.Th scope="col" className={classes.number}>
              Studies
            </Table.Th>
            <Table.Th scope="col" className={classes.number}>
              Reports
            </Table.Th>
            <Table.Th scope="col" className={classes.activityCell}>
              Last activity
            </Table.Th>
            <Table.Th scope="col">
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {projects.map((project) => (
            <ProjectRow key={project.id} project={project} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function ProjectRow({ project }: { project: ProjectSummary }) {
  const { name } = project;
  return (
    <Table.Tr>
      <Table.Td className={classes.name}>
        <Anchor component={Link} to={projectAddress(name)} size="sm" fw={500}>
          {name}
        </Anchor>
      </Table.Td>
      <CountCell count={project.runs} to={inProject("/", name)} label={`Runs of ${name}`} />
      <Table.Td className={classes.number}>
        {project.active_runs === 0 ? "–" : exact(project.active_runs)}
      </Table.Td>
      <CountCell count={project.studies} to={inProject("/studies", name)} label={`Studies of ${name}`} />
      <CountCell count={project.reports} to={inProject("/reports", name)} label={`Reports of ${name}`} />
      <Table.Td className={classes.activityCell}>
        <TimeAgo time={project.last_activity} />
      </Table.Td>
      <Table.Td className={classes.menu}>
        <ProjectMenu project={project} />
      </Table.Td>
    </Table.Tr>
  );
}

function CountCell({ count, to, label }: { count: number; to: string; label: string }) {
  return (
    <Table.Td className={classes.number}>
      {count === 0 ? (
        "–"
      ) : (
        <Anchor component={Link} to={to} size="sm" aria-label={`${label}: ${count}`}>
          {exact(count)}
        </Anchor>
      )}
    </Table.Td>
  );
}
