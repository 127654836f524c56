import { Anchor, Box, Button, Group, Select, Skeleton, Stack, Text, Textarea, Title } from "@mantine/core";
import { IconFolder } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { isSameProject, projectQuery, projectsQuery, useEditProject } from "@/api/projects";
import { reportsQuery } from "@/api/reports";
import type { Project, ProjectAgent } from "@/api/types";
import { OpenExamples } from "@/run-actions/OpenExamples";
import { boardAddress, inProject, projectAddress } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { ExecutorSelect } from "@/ui/ExecutorSelect";
import { exact, plural, score, short } from "@/ui/format";
import { Markdown } from "@/ui/Markdown";
import { NoProject } from "@/ui/NoProject";
import { tabStorage } from "@/ui/pageStorage";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { RunDot } from "@/ui/RunDot";
import { Thumbnail } from "@/ui/Thumbnail";
import { usePageTitle } from "@/ui/usePageTitle";
import { Members } from "./Members";
import { ProjectMenu } from "./ProjectMenu";
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

const MAX_LENGTH = 50_000;

/** The text of a project, and its editor. The browser keeps an unsaved text. */
function ProjectText({ project }: { project: Project }) {
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

/** First steps in an empty project. */
function FirstSteps({ project }: { project: Project }) {
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

const PICTURE_SIZE = 168;

/** The best run of each environment, with its picture. */
function BestAgents({ project }: { project: Project }) {
  const agents = project.best_agents;
  return (
    <section aria-label="Best agents">
      <Stack gap="xs">
        <Title order={2}>Best agents</Title>
        {agents.length === 0 ? (
          <Text size="sm" c="dimmed">
            The best run of each environment appears here when a run has finished episodes.
          </Text>
        ) : (
          <ul className={classes.agents}>
            {agents.map((agent) => (
              <li key={agent.env} className={classes.agent}>
                <Agent agent={agent} />
              </li>
            ))}
          </ul>
        )}
      </Stack>
    </section>
  );
}

function Agent({ agent }: { agent: ProjectAgent }) {
  const run = `/runs/${agent.run_id}`;
  return (
    <>
      <Link to={run} className={classes.picture} aria-label={`Run ${agent.run_id} ${agent.run_name}`}>
        <Thumbnail
          fileId={agent.poster_file_id}
          size={PICTURE_SIZE}
          alt={`Latest frame of ${agent.env_title}`}
        />
      </Link>
      <Stack gap={2} p="sm" pt="xs">
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text size="sm" fw={600} truncate>
            {agent.env_title}
          </Text>
          <Text size="sm" fw={600} title="Best mean return of 100 training episodes">
            {score(agent.best_return)}
          </Text>
        </Group>
        <Anchor component={Link} to={run} size="xs" className={classes.run}>
          <RunDot run={agent} />
          <span className={classes.runName}>{agent.run_name}</span>
        </Anchor>
        <Group gap="sm" justify="space-between">
          <Text size="xs" c="dimmed">
            {agent.method}
            {agent.checkpoint_step !== null && ` · ${short(agent.checkpoint_step, "steps")}`}
          </Text>
          {agent.checkpoint_id !== null && (
            <Anchor component={Link} to={`${run}/live`} size="xs">
              Watch
            </Anchor>
          )}
        </Group>
      </Stack>
    </>
  );
}

/** The report that the project shows first, and the field to choose it. */
function PinnedReport({ project }: { project: Project }) {
  const reports = useQuery(reportsQuery(project.name)).data ?? [];
  const edit = useEditProject(project.id);
  const pinned = project.pinned_report;
  const offered = reports.map(({ id, title }) => ({ value: String(id), label: title }));
  if (pinned && !offered.some(({ value }) => value === String(pinned.id)))
    offered.unshift({ value: String(pinned.id), label: pinned.title });
  return (
    <section className={classes.card} aria-label="Pinned report">
      <Stack gap="xs">
        <Title order={2}>Pinned report</Title>
        {pinned && (
          <Anchor component={Link} to={`/reports/${pinned.id}`} fw={500} w="fit-content">
            {pinned.title}
          </Anchor>
        )}
        {!project.may_administer ? (
          !pinned && (
            <Text size="sm" c="dimmed">
              No report is pinned.
            </Text>
          )
        ) : offered.length === 0 ? (
          <Text size="sm" c="dimmed">
            This project has no report yet. Create one on the page of{" "}
            <Anchor component={Link} to={inProject("/reports", project.name)} inherit>
              reports
            </Anchor>
            , then pin it here.
          </Text>
        ) : (
          <Group gap="xs" align="end">
            <Select
              aria-label="Report"
              placeholder="Choose a report"
              searchable
              allowDeselect={false}
              w={280}
              maw="100%"
              data={offered}
              value={pinned ? String(pinned.id) : null}
              error={edit.error?.message}
              nothingFoundMessage="No such report"
              onChange={(id) => id !== null && edit.mutate({ pinned_report_id: Number(id) })}
            />
            {pinned && (
              <Button
                variant="default"
                h={36}
                px="sm"
                loading={edit.isPending}
                onClick={() => edit.mutate({ pinned_report_id: null })}
              >
                Unpin
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </section>
  );
}
