import { ActionIcon, Anchor, Button, Group, Menu, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconFileDownload, IconTrash } from "@tabler/icons-react";
import type { UseMutationResult, UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import { address } from "@/api/client";
import { isUnfinished } from "@/api/jobs";
import type { Evaluation, Run } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { EmptyState } from "@/ui/EmptyState";
import { duration } from "@/ui/format";
import { ForEditors, useMayEdit } from "@/ui/mayEdit";
import { MenuAction } from "@/ui/MenuAction";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { useIsMounted } from "@/ui/useIsMounted";
import { describeOrigin } from "./jobWords";

interface JobPageProps<Job> {
  run: Run;
  noun: string;
  /** Tab of the run that lists the jobs. */
  tab: string;
  query: UseQueryResult<Job>;
  /** Title if the run has no such job, else null. */
  missing: string | null;
  /** Return the page of the loaded job. `leave` opens the list if this page is still open. */
  children: (job: Job, leave: () => void) => ReactNode;
}

/** Page of one evaluation or calibration, with a link to the list. */
export function JobPage<Job>({ run, noun, tab, query, missing, children }: JobPageProps<Job>) {
  const navigate = useNavigate();
  const stillHere = useIsMounted();
  const listUrl = `/runs/${run.id}/${tab}`;
  const leave = () => {
    if (stillHere()) void navigate(listUrl);
  };
  return (
    <Stack gap="md">
      <Anchor component={Link} to={listUrl} size="sm" w="fit-content">
        All {noun}s of run {run.id}
      </Anchor>
      {missing !== null ? (
        <EmptyState title={missing}>It may have been removed.</EmptyState>
      ) : query.data !== undefined ? (
        children(query.data, leave)
      ) : query.isError ? (
        <QueryError error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Text c="dimmed">Loading {noun}…</Text>
      )}
    </Stack>
  );
}

/** Return the id of a job in a URL, or null if it is not an id. */
export function parseJobId(text: string): number | null {
  const id = Number(text);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

type ByID = UseMutationResult<unknown, Error, number>;

interface JobActionsProps {
  job: Pick<Evaluation, "id" | "state">;
  noun: string;
  /** Name with the noun: "evaluation by no-op-5min at 1.2 M steps". */
  name: string;
  cancel: ByID;
  remove: ByID;
  /** API path and label of the results as CSV. */
  results: { path: string; label: string };
  /** Effect of removing the job. */
  children: ReactNode;
}

/** Actions for an evaluation or a calibration: cancel, export and remove. */
export function JobActions({ job, noun, name, cancel, remove, results, children }: JobActionsProps) {
  const [isConfirmOpen, confirmDialog] = useDisclosure(false);
  const mayEdit = useMayEdit();
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {isUnfinished(job) && mayEdit && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Cancel the ${name}`}
          loading={cancel.isPending}
          onClick={() => cancel.mutate(job.id)}
        >
          Cancel
        </Button>
      )}
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
              Remove {noun}…
            </Menu.Item>
          </ForEditors>
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={isConfirmOpen}
        title={`Remove this ${noun}?`}
        action={`Remove ${noun}`}
        danger
        busy={remove.isPending}
        onConfirm={() => remove.mutate(job.id, { onSettled: confirmDialog.close })}
        onClose={confirmDialog.close}
      >
        <Text size="sm">{children}</Text>
      </ConfirmModal>
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
