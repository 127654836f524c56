import { Badge, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Evaluation } from "@/api/types";
import { TimeAgo } from "@/ui/Quantity";
import { Reason } from "@/ui/Reason";
import classes from "./jobs.module.css";
import { describeOrigin, SUPERSEDED_REASON } from "./jobWords";

interface JobRowProps {
  job: Pick<Evaluation, "reason" | "traceback">;
  columnCount: number;
  children: ReactNode;
}

/** Table row of an evaluation or a calibration, with a second row for its reason or traceback. */
export function JobRow({ job, columnCount, children }: JobRowProps) {
  const hasReason = job.reason !== null || job.traceback !== null;
  return (
    <>
      <Table.Tr className={classes.row} data-has-reason={hasReason || undefined}>
        {children}
      </Table.Tr>
      {hasReason && (
        <Table.Tr className={classes.row}>
          <Table.Td colSpan={columnCount} className={classes.reason}>
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
