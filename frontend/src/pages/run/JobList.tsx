import { Badge, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { UseQueryResult } from "@tanstack/react-query";
import { type ComponentProps, Fragment, type ReactNode } from "react";
import { isUnfinished } from "@/api/jobs";
import type { Evaluation, Run } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { EmptyState } from "@/ui/EmptyState";
import { NoPlayer } from "@/ui/NoPlayer";
import { QueryError } from "@/ui/QueryError";
import { TimeAgo } from "@/ui/Quantity";
import { Reason } from "@/ui/Reason";
import { WideTable } from "@/ui/WideTable";
import classes from "./jobs.module.css";
import { describeOrigin, SUPERSEDED_REASON } from "./jobWords";
import runClasses from "./run.module.css";

type ListedJob = Pick<Evaluation, "id" | "state">;

/** Column of a table of jobs. `wide` hides it on phones. */
export interface JobColumn {
  name: string;
  hint?: string;
  right?: boolean;
  wide?: boolean;
}

interface JobListProps<Job> {
  run: Run;
  noun: string;
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
  columns: readonly JobColumn[];
  row: (job: Job) => ReactNode;
  more?: ReactNode;
  /** The form. */
  modal: (close: () => void) => ReactNode;
}

/** All evaluations or calibrations of a run, as charts and as a table, with a form that requests one. */
export function JobList<Job extends ListedJob>(props: JobListProps<Job>) {
  const { run, noun, query, jobs, empty, action, columns, row } = props;
  const [isFormOpen, form] = useDisclosure(false);
  if (query.error && !jobs) return <QueryError error={query.error} retry={() => void query.refetch()} />;
  if (!jobs) return <Text c="dimmed">Loading {noun}s…</Text>;
  return (
    <Stack gap="md">
      {jobs.length === 0 ? (
        <EmptyState icon={empty.icon} title={`No ${noun}s yet`}>
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
          {jobs.some(isUnfinished) && <NoPlayer />}
          {props.charts}
          <WideTable label={`Table of ${noun}s`} className={runClasses.card}>
            <Table verticalSpacing={8} className={`${runClasses.oneLine} ${classes.table}`}>
              <JobHead columns={columns} />
              <Table.Tbody>
                {jobs.map((job) => (
                  <Fragment key={job.id}>{row(job)}</Fragment>
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

/** Request time, state and actions. */
const OWN_COLUMNS = 3;

function JobHead({ columns }: { columns: readonly JobColumn[] }) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map(({ name, hint, right, wide }) => (
          <Table.Th
            key={name}
            title={hint}
            {...(right && { ta: "right" })}
            {...(wide && { visibleFrom: "sm" })}
          >
            {name}
          </Table.Th>
        ))}
        <Table.Th visibleFrom="sm">Requested</Table.Th>
        <Table.Th>State</Table.Th>
        <Table.Th>
          <VisuallyHidden>Actions</VisuallyHidden>
        </Table.Th>
      </Table.Tr>
    </Table.Thead>
  );
}

interface JobRowProps {
  job: Pick<Evaluation, "reason" | "traceback">;
  columns: readonly JobColumn[];
  children: ReactNode;
}

/** Table row of an evaluation or a calibration, with a second row for its reason or traceback. */
export function JobRow({ job, columns, children }: JobRowProps) {
  const hasReason = job.reason !== null || job.traceback !== null;
  return (
    <>
      <Table.Tr className={classes.row} data-has-reason={hasReason || undefined}>
        {children}
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

/** Table cell with the time and origin of a request. */
export function RequestedCell({ job }: { job: Pick<Evaluation, "origin" | "created_at"> }) {
  return (
    <Table.Td visibleFrom="sm">
      <TimeAgo time={job.created_at} />
      <Text size="xs" c="dimmed">
        {describeOrigin(job)}
      </Text>
    </Table.Td>
  );
}
