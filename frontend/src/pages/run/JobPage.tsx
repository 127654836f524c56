import { Anchor, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useNavigate } from "react-router";
import type { Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { QueryError } from "@/ui/QueryError";
import { useIsMounted } from "@/ui/useIsMounted";

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
