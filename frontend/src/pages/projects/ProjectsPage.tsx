import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";
import { projectsQuery } from "@/api/projects";
import { accountQuery } from "@/api/session";
import type { ProjectSummary } from "@/api/types";
import { NewProjectModal } from "@/run-actions/NewProjectModal";
import { inProject, projectAddress } from "@/ui/currentProject";
import { DataTable } from "@/ui/DataTable";
import { exact } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { ProjectMenu } from "./ProjectMenu";
import classes from "./projects.module.css";

/** List of projects. */
export default function ProjectsPage() {
  usePageTitle("Projects");
  const mayCreate = useQuery(accountQuery).data?.is_administrator ?? true;
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
        {mayCreate && (
          <Button leftSection={<IconPlus size={16} />} h={32} px="sm" onClick={newDialog.open}>
            New project
          </Button>
        )}
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
    <DataTable
      label="Projects"
      frameClass={classes.card}
      verticalSpacing="xs"
      rows={projects}
      rowKey={({ id }) => id}
      columns={[
        {
          title: "Project",
          className: classes.name,
          cell: ({ name }) => (
            <Anchor component={Link} to={projectAddress(name)} size="sm" fw={500}>
              {name}
            </Anchor>
          ),
        },
        {
          title: "Runs",
          numeric: true,
          cell: ({ name, runs }) => (
            <Count count={runs} to={inProject("/", name)} label={`Runs of ${name}`} />
          ),
        },
        {
          title: "Training",
          numeric: true,
          cell: ({ active_runs: active }) => (active === 0 ? "–" : exact(active)),
        },
        {
          title: "Studies",
          numeric: true,
          cell: ({ name, studies }) => (
            <Count count={studies} to={inProject("/studies", name)} label={`Studies of ${name}`} />
          ),
        },
        {
          title: "Reports",
          numeric: true,
          cell: ({ name, reports }) => (
            <Count count={reports} to={inProject("/reports", name)} label={`Reports of ${name}`} />
          ),
        },
        {
          title: "Last activity",
          className: classes.activityCell,
          cell: (project) => <TimeAgo time={project.last_activity} />,
        },
        {
          title: "Actions",
          isTitleHidden: true,
          className: classes.menu,
          cell: (project) => <ProjectMenu project={project} />,
        },
      ]}
    />
  );
}

function Count({ count, to, label }: { count: number; to: string; label: string }) {
  if (count === 0) return "–";
  return (
    <Anchor component={Link} to={to} size="sm" aria-label={`${label}: ${count}`}>
      {exact(count)}
    </Anchor>
  );
}
