import { Anchor, Box, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "react-router";
import { isSameProject, projectQuery, projectsQuery, useEditProject } from "@/api/projects";
import type { Project } from "@/api/types";
import { boardAddress, inProject, projectAddress } from "@/ui/currentProject";
import { NoProject } from "@/ui/NoProject";
import { ExecutorSelect } from "@/ui/ExecutorSelect";
import { exact, plural } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { BestAgents } from "./BestAgents";
import { FirstSteps } from "./FirstSteps";
import { Members } from "./Members";
import { PinnedReport } from "./PinnedReport";
import { ProjectMenu } from "./ProjectMenu";
import { ProjectText } from "./ProjectText";
import classes from "./projects.module.css";

/** One project: its text, a report, its best agents and its numbers. */
export default function ProjectPage() {
  const { name = "" } = useParams();
  usePageTitle(name);
  const projects = useQuery(projectsQuery);
  const found = projects.data?.find((each) => isSameProject(each.name, name));
  const project = useQuery({ ...projectQuery(found?.id ?? 0), enabled: found !== undefined });
  const error = projects.data ? project.error : projects.error;
  if (projects.data && !found) return <NoProject name={name} />;
  return (
    <Stack className={classes.sheet} gap="md">
      <Anchor component={Link} to="/projects" size="sm" w="fit-content">
        All projects
      </Anchor>
      {project.data ? (
        <Sheet key={project.data.id} project={project.data} />
      ) : (
        <>
          <Title order={1}>{name}</Title>
          {error ? (
            <QueryError error={error} retry={() => void (projects.data ? project : projects).refetch()} />
          ) : (
            <Skeleton height={320} radius="sm" role="status" aria-label="Loading the project…" />
          )}
        </>
      )}
    </Stack>
  );
}

function Sheet({ project }: { project: Project }) {
  const navigate = useNavigate();
  const isEmpty =
    project.runs + project.archived_runs + project.studies + project.reports + project.artifacts === 0;
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="start">
        <Title order={1} className={classes.title}>
          {project.name}
        </Title>
        <Group gap="xs" wrap="nowrap">
          <Button component={Link} to={boardAddress(project.name)} variant="default" h={32} px="sm">
            Board
          </Button>
          <ProjectMenu
            project={project}
            onGone={(replacement) =>
              void navigate(replacement === null ? "/projects" : projectAddress(replacement), {
                replace: true,
              })
            }
          />
        </Group>
      </Group>
      <Counts project={project} />
      <ProjectText project={project} />
      {isEmpty && project.may_edit ? (
        <FirstSteps project={project} />
      ) : (
        <>
          <BestAgents project={project} />
          <PinnedReport project={project} />
        </>
      )}
      {project.may_administer && <TrainOn project={project} />}
      <Members project={project.id} />
    </>
  );
}

/** Where the runs of the project train by default. */
function TrainOn({ project }: { project: Project }) {
  const edit = useEditProject(project.id);
  return (
    <Box maw={480}>
      <ExecutorSelect
        label="Train by default on"
        description="Each run and study may choose another place."
        unset="Default of the server"
        value={project.executor}
        disabled={edit.isPending}
        onChange={(executor) => edit.mutate({ executor })}
      />
    </Box>
  );
}

function Counts({ project }: { project: Project }) {
  const { name, runs, active_runs, archived_runs, studies, reports, artifacts } = project;
  const details = [
    active_runs > 0 && `${exact(active_runs)} training`,
    archived_runs > 0 && `${exact(archived_runs)} archived`,
  ].filter(Boolean);
  return (
    <div className={classes.counts}>
      <Count
        to={inProject("/", name)}
        count={runs}
        label={plural(runs, "run").replace(/^\S+ /, "")}
        detail={details.join(", ")}
      />
      <Count to={inProject("/studies", name)} count={studies} label={studies === 1 ? "study" : "studies"} />
      <Count to={inProject("/reports", name)} count={reports} label={reports === 1 ? "report" : "reports"} />
      <Count
        to={inProject("/artifacts", name)}
        count={artifacts}
        label={artifacts === 1 ? "artifact" : "artifacts"}
      />
      <div className={classes.count}>
        <span className={classes.activity}>
          <TimeAgo time={project.last_activity} />
        </span>
        <Text size="sm" c="dimmed" component="span">
          last activity
        </Text>
      </div>
    </div>
  );
}

interface CountProps {
  to: string;
  count: number;
  label: string;
  detail?: string;
}

function Count({ to, count, label, detail = "" }: CountProps) {
  return (
    <Link to={to} className={classes.count}>
      <span className={classes.figure}>{exact(count)}</span>{" "}
      <Text size="sm" c="dimmed" component="span">
        {label}
        {detail && ` · ${detail}`}
      </Text>
    </Link>
  );
}
