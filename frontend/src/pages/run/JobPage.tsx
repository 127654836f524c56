import { ActionIcon, Anchor, Group, Menu, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconFileDownload, IconTrash } from "@tabler/icons-react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import { address } from "@/api/client";
import { isNotFound } from "@/api/problem";
import type { Evaluation, Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { capitalize, duration } from "@/ui/format";
import { CancelJob, DeleteJobModal, type JobMutation } from "@/ui/JobControls";
import { JobState } from "@/ui/JobState";
import { ForEditors } from "@/ui/mayEdit";
import { MenuAction } from "@/ui/MenuAction";
import { NoPlayer } from "@/ui/NoPlayer";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { Reason } from "@/ui/Reason";
import { useIsMounted } from "@/ui/useIsMounted";

/** Why a result is superseded. */
export const SUPERSEDED_REASON =
  "The run was resumed from an earlier checkpoint and trained these steps again.";

export const describeOrigin = ({ origin }: Pick<Evaluation, "origin">) =>
  origin === "schedule" ? "by schedule" : "manually";

/** Kind of job that a tab of a run lists. */
export type TabJobKind = "evaluation" | "calibration";
type ShownJob = Pick<
  Evaluation,
  "id" | "run_id" | "state" | "done" | "total" | "reason" | "traceback" | "superseded"
>;

interface JobPageProps<Job> {
  run: Run;
  kind: TabJobKind;
  /** Tab of the run that lists the jobs. */
  tab: string;
  /** Id of the job in the URL. */
  idText: string;
  query: UseQueryResult<Job>;
  title: (job: Job) => string;
  /** Return the actions. `leave` opens the list if this page is still open. */
  actions: (job: Job, leave: () => void) => ReactNode;
  /** Return the results and the settings. */
  children: (job: Job) => ReactNode;
}

/** Page of one evaluation or calibration, with a link to the list. */
export function JobPage<Job extends ShownJob>(props: JobPageProps<Job>) {
  const { run, kind, tab, idText, query, title, actions, children } = props;
  const navigate = useNavigate();
  const stillHere = useIsMounted();
  const listUrl = `/runs/${run.id}/${tab}`;
  const leave = () => {
    if (stillHere()) void navigate(listUrl);
  };
  const job = query.data;
  return (
    <Stack gap="md">
      <Anchor component={Link} to={listUrl} size="sm" w="fit-content">
        All {kind}s of run {run.id}
      </Anchor>
      {parseJobId(idText) === null || isNotFound(query.error) ? (
        <EmptyState title={`There is no ${kind} ${idText}`}>It may have been removed.</EmptyState>
      ) : !job ? (
        query.isError ? (
          <QueryError error={query.error} retry={() => void query.refetch()} />
        ) : (
          <Text c="dimmed">Loading {kind}…</Text>
        )
      ) : job.run_id !== run.id ? (
        <EmptyState title={`${capitalize(kind)} ${job.id} belongs to another run`}>
          <Anchor component={Link} to={`/runs/${job.run_id}/${tab}/${job.id}`}>
            Open it in run {job.run_id}
          </Anchor>
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Group gap={12}>
              <Title order={2}>{title(job)}</Title>
              <JobState job={job} kind={kind} />
            </Group>
            {actions(job, leave)}
          </Group>
          {job.superseded && (
            <Text size="sm">
              This {kind} is superseded. {SUPERSEDED_REASON}
            </Text>
          )}
          <Reason of={job} />
          {job.state === "queued" && <NoPlayer executor={run.executor} />}
          {children(job)}
        </>
      )}
    </Stack>
  );
}

/** Return the id of a job in a URL, or null if it is not an id. */
export function parseJobId(text: string): number | null {
  const id = Number(text);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

interface JobActionsProps {
  job: Pick<Evaluation, "id" | "state">;
  kind: TabJobKind;
  /** Name with the kind: "evaluation by no-op-5min at 1.2 M steps". */
  name: string;
  cancel: JobMutation;
  remove: JobMutation;
  /** API path and label of the results as CSV. */
  results: { path: string; label: string };
  /** Effect of removing the job. */
  children: ReactNode;
}

/** Actions for an evaluation or a calibration: cancel, export and remove. */
export function JobActions({ job, kind, name, cancel, remove, results, children }: JobActionsProps) {
  const [isConfirmOpen, confirmDialog] = useDisclosure(false);
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <CancelJob job={job} mutation={cancel} aria-label={`Cancel the ${name}`} />
      <Menu keepMounted={false} width={232}>
        <Menu.Target>
          <ActionIcon aria-label={`Actions for the ${name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction
            Icon={IconFileDownload}
            label={results.label}
            href={address(results.path)}
            blocked={job.state === "done" ? null : "Available when the job is done."}
          />
          <ForEditors>
            <Menu.Item
              color="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={confirmDialog.open}
            >
              Remove {kind}…
            </Menu.Item>
          </ForEditors>
        </Menu.Dropdown>
      </Menu>
      <DeleteJobModal
        job={isConfirmOpen ? job.id : null}
        noun={kind}
        verb="Remove"
        mutation={remove}
        onClose={confirmDialog.close}
      >
        {children}
      </DeleteJobModal>
    </Group>
  );
}

interface JobTimesProps {
  job: Pick<Evaluation, "origin" | "created_at" | "started_at" | "finished_at">;
}

/** Origin, time and duration of an evaluation or a calibration, as items of a description list. */
export function JobTimes({ job }: JobTimesProps) {
  const { created_at, started_at, finished_at } = job;
  return (
    <>
      <dt>Requested</dt>
      <dd>
        {describeOrigin(job)}, <TimeAgo time={created_at} />
      </dd>
      {started_at && finished_at && (
        <>
          <dt>Duration</dt>
          <dd>{duration((Date.parse(finished_at) - Date.parse(started_at)) / 1000)}</dd>
        </>
      )}
    </>
  );
}
