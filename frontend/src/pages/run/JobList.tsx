import { Badge, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ComponentProps, ReactNode } from "react";
import { isUnfinished } from "@/api/jobs";
import type { Evaluation, Run } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { EmptyState } from "@/ui/EmptyState";
import { JobState } from "@/ui/JobState";
import { NoPlayer } from "@/ui/NoPlayer";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { Reason } from "@/ui/Reason";
import { WideTable } from "@/ui/WideTable";
import { describeOrigin, SUPERSEDED_REASON, type TabJobKind } from "./JobPage";
import classes from "./jobs.module.css";
import runClasses from "./run.module.css";

type ListedJob = Pick<
  Evaluation,
  "id" | "state" | "done" | "total" | "reason" | "traceback" | "origin" | "created_at"
>;

/** Column of a table of jobs. `wide` hides it on phones. */
export interface JobColumn<Job> {
  name: string;
  hint?: string;
  right?: boolean;
  wide?: boolean;
  cell: (job: Job) => ReactNode;
}

interface JobListProps<Job> {
  run: Run;
  kind: TabJobKind;
  query: Pick<UseQueryResult, "error" | "refetch">;
  /** The jobs, or undefined while they are loading. */
  jobs: readonly Job[] | undefined;
  /** Shown if there are none. */
  empty: { icon: NonNullable<ComponentProps<typeof EmptyState>["icon"]>; text: string };
  /** Label of the button that opens the form. */
  action: string;
  summary: ReactNode;
  /** Buttons before that of the form. */
  tools: ReactNode;
  charts: ReactNode;
  columns: readonly JobColumn<Job>[];
  actions: (job: Job) => ReactNode;
  more?: ReactNode;
  /** The form. */
  modal: (close: () => void) => ReactNode;
}

/** All evaluations or calibrations of a run, as charts and as a table, with a form that requests one. */
export function JobList<Job extends ListedJob>(props: JobListProps<Job>) {
  const { run, kind, query, jobs, empty, action, columns, actions } = props;
  const [isFormOpen, form] = useDisclosure(false);
  if (query.error && !jobs) return <QueryError error={query.error} retry={() => void query.refetch()} />;
  if (!jobs) return <Text c="dimmed">Loading {kind}s…</Text>;
  return (
    <Stack gap="md">
      {jobs.length === 0 ? (
        <EmptyState icon={empty.icon} title={`No ${kind}s yet`}>
          <Text mb="md">{empty.text}</Text>
          <BlockableButton blocked={run.actions.play} onClick={form.open}>
            {action}
          </BlockableButton>
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" gap="sm">
            <Text size="sm" style={{ flex: "1 1 240px" }}>
              {props.summary}
            </Text>
            <Group gap="xs">
              {props.tools}
              <BlockableButton blocked={run.actions.play} size="xs" onClick={form.open}>
                {action}
              </BlockableButton>
            </Group>
          </Group>
          {jobs.some(isUnfinished) && <NoPlayer executor={run.executor} />}
          {props.charts}
          <WideTable label={`Table of ${kind}s`} className={runClasses.card}>
            <Table verticalSpacing={8} className={`${runClasses.oneLine} ${classes.table}`}>
              <Table.Thead>
                <Table.Tr>
                  {columns.map((column) => (
                    <Table.Th key={column.name} title={column.hint} {...placeOf(column)}>
                      {column.name}
                    </Table.Th>
                  ))}
                  <Table.Th visibleFrom="sm">Requested</Table.Th>
                  <Table.Th>State</Table.Th>
                  <Table.Th>
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {jobs.map((job) => (
                  <JobRow key={job.id} job={job} kind={kind} columns={columns} actions={actions(job)} />
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
          {props.more}
        </>
      )}
      {isFormOpen && props.modal(form.close)}
    </Stack>
  );
}

/** Return the alignment of a column, and the screens that show it. */
function placeOf({ right, wide }: Pick<JobColumn<never>, "right" | "wide">) {
  return { ...(right && ({ ta: "right" } as const)), ...(wide && ({ visibleFrom: "sm" } as const)) };
}

/** Request time, state and actions. */
const OWN_COLUMNS = 3;

interface JobRowProps<Job> extends Pick<JobListProps<Job>, "kind" | "columns"> {
  job: Job;
  actions: ReactNode;
}

/** Table row of a job, with a second row for its reason or traceback. */
function JobRow<Job extends ListedJob>({ job, kind, columns, actions }: JobRowProps<Job>) {
  const hasReason = job.reason !== null || job.traceback !== null;
  return (
    <>
      <Table.Tr className={classes.row} data-has-reason={hasReason || undefined}>
        {columns.map((column) => (
          <Table.Td key={column.name} {...placeOf(column)}>
            {column.cell(job)}
          </Table.Td>
        ))}
        <Table.Td visibleFrom="sm">
          <TimeAgo time={job.created_at} />
          <Text size="xs" c="dimmed">
            {describeOrigin(job)}
          </Text>
        </Table.Td>
        <Table.Td>
          <JobState job={job} kind={kind} />
        </Table.Td>
        <Table.Td>{actions}</Table.Td>
      </Table.Tr>
      {hasReason && (
        <Table.Tr className={classes.row}>
          <Table.Td colSpan={columns.length + OWN_COLUMNS} className={classes.reason}>
            <Reason of={job} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

export function SupersededBadge() {
  return (
    <Badge size="sm" tt="none" variant="default" style={{ flex: "none" }} title={SUPERSEDED_REASON}>
      superseded
    </Badge>
  );
}
