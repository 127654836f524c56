import { Button, Group, NativeSelect, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { auditExportAddress, type AuditFilters, auditQuery, peopleQuery } from "@/api/people";
import type { Account, AuditEntry } from "@/api/types";
import { type Column, DataTable } from "@/ui/DataTable";
import { capitalize } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { describeChange } from "./words";
import classes from "./settings.module.css";

const KINDS = [
  ..."run,study,report,project,board,view,alias,artifact,job,replay".split(","),
  ..."person,group,role,token,alert rule,alert channel".split(","),
];
const ACTIONS = [
  ..."create,change,change settings,stop,pause,resume,archive,restore,move,delete".split(","),
  ..."sign in,sign out,refuse sign-in,revoke,disable".split(","),
];

/** The audit log with its filters and its export. */
export function AuditTab({ account }: { account: Account }) {
  const [filters, setFilters] = useState<AuditFilters>({ person_id: null, kind: "", action: "" });
  const people = useQuery({ ...peopleQuery, enabled: account.is_administrator }).data ?? [];
  const log = useInfiniteQuery(auditQuery(filters));
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <section className={classes.card} aria-label="Audit log">
      <Group justify="space-between" gap="xs">
        <Title order={2}>Audit log</Title>
        <Button
          component="a"
          href={auditExportAddress(filters)}
          download="audit.jsonl"
          size="xs"
          variant="default"
          leftSection={<IconDownload size={16} />}
        >
          Export as JSON Lines
        </Button>
      </Group>
      {!account.is_administrator && (
        <Text size="sm" c="dimmed" mt={4}>
          Entries of the projects that you administer.
        </Text>
      )}
      <Group gap="xs" my="sm">
        {people.length > 0 && (
          <NativeSelect
            aria-label="Person"
            value={filters.person_id ?? ""}
            onChange={({ currentTarget: { value } }) =>
              setFilters({ ...filters, person_id: value ? Number(value) : null })
            }
            data={[
              { value: "", label: "Everyone" },
              ...people.map(({ id, name }) => ({ value: String(id), label: name })),
            ]}
          />
        )}
        <NativeSelect
          aria-label="Action"
          value={filters.action}
          onChange={(event) => setFilters({ ...filters, action: event.currentTarget.value })}
          data={choices("All actions", ACTIONS)}
        />
        <NativeSelect
          aria-label="Kind of object"
          value={filters.kind}
          onChange={(event) => setFilters({ ...filters, kind: event.currentTarget.value })}
          data={choices("All objects", KINDS)}
        />
      </Group>
      {log.isError && <QueryError error={log.error} retry={() => void log.refetch()} />}
      {log.isPending && <Skeleton height={240} role="status" aria-label="Loading the audit log…" />}
      {log.data && (
        <DataTable
          label="Audit log"
          verticalSpacing={6}
          horizontalSpacing="sm"
          rows={entries}
          rowKey={({ id }) => id}
          columns={COLUMNS}
          empty={
            <Text size="sm">Nothing matches. Actions appear here as soon as somebody does something.</Text>
          }
        />
      )}
      {log.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          my="sm"
          loading={log.isFetchingNextPage}
          onClick={() => void log.fetchNextPage()}
        >
          Show older entries
        </Button>
      )}
    </section>
  );
}

const choices = (all: string, words: readonly string[]) => [
  { value: "", label: all },
  ...words.map((value) => ({ value, label: capitalize(value) })),
];

const COLUMNS: Column<AuditEntry>[] = [
  { title: "When", className: classes.time, cell: ({ at }) => <TimeAgo time={at} /> },
  {
    title: "Who",
    cell: ({ name, address, token_id }) => (
      <>
        {name || "–"}
        <div className={classes.change}>
          {token_id === null ? "" : "by a token, "}
          {address}
        </div>
      </>
    ),
  },
  {
    title: "What",
    cell: (entry) => (
      <Stack gap={0} className={classes.words ?? ""}>
        <span>
          {capitalize(entry.action)} {entry.kind} {entry.object_name || entry.object_id}
        </span>
        {describeChange(entry).map((line) => (
          <span key={line} className={classes.change}>
            {line}
          </span>
        ))}
      </Stack>
    ),
  },
];
