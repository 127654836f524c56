import { Anchor, Button, Group, NativeSelect, Skeleton, Text, TextInput, Title } from "@mantine/core";
import { IconDownload, IconX } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { auditExportAddress, auditFacetsQuery, type AuditFilters, auditQuery } from "@/api/people";
import type { Account, AuditEntry, AuditFacets } from "@/api/types";
import { type Column, DataTable } from "@/ui/DataTable";
import { capitalize } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { changesOf, nameOfPerson, nameOfProject, pageOf } from "./words";
import classes from "./settings.module.css";

const FILTERS = ["project_id", "person_id", "kind", "action", "since", "until"] as const;
const NO_FACETS: AuditFacets = { kinds: [], actions: [], people: [], projects: [] };

/** The audit log with its filters, which are in the URL, and its export. */
export function AuditTab({ account }: { account: Account }) {
  const [search, setSearch] = useSearchParams();
  const filters: AuditFilters = {};
  for (const name of FILTERS) filters[name] = search.get(name) ?? "";
  const isFiltered = FILTERS.some((name) => filters[name]);
  const choose = (changes: AuditFilters) =>
    setSearch(
      (before) => {
        for (const [name, value] of Object.entries(changes))
          if (value) before.set(name, value);
          else before.delete(name);
        return before;
      },
      { replace: true },
    );
  const clear = () => choose(Object.fromEntries(FILTERS.map((name) => [name, ""])));
  const facets = useQuery(auditFacetsQuery).data ?? NO_FACETS;
  const log = useInfiniteQuery({ ...auditQuery(filters), placeholderData: keepPreviousData });
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
      <Text size="sm" c="dimmed" mt={4}>
        {account.is_administrator ? "Who changed what." : "Entries of the projects that you administer."}{" "}
        {isFiltered && "The export has what the filters show."}
      </Text>
      <div className={classes.filters} role="search" aria-label="Filters of the audit log">
        <NativeSelect
          label="Project"
          value={filters.project_id}
          onChange={(event) => choose({ project_id: event.currentTarget.value })}
          data={choices(
            "All projects",
            facets.projects.map(({ id }) => [String(id), nameOfProject(id, facets)]),
            filters.project_id,
          )}
        />
        <NativeSelect
          label="Person"
          value={filters.person_id}
          onChange={(event) => choose({ person_id: event.currentTarget.value })}
          data={choices(
            "Everyone",
            facets.people.map(({ id }) => [String(id), nameOfPerson(id, facets)]),
            filters.person_id,
          )}
        />
        <NativeSelect
          label="Object"
          value={filters.kind}
          onChange={(event) => choose({ kind: event.currentTarget.value })}
          data={choices("All objects", words(facets.kinds), filters.kind)}
        />
        <NativeSelect
          label="Action"
          value={filters.action}
          onChange={(event) => choose({ action: event.currentTarget.value })}
          data={choices("All actions", words(facets.actions), filters.action)}
        />
        <TextInput
          type="date"
          label="From"
          value={filters.since}
          max={filters.until || undefined}
          onChange={(event) => choose({ since: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          label="To"
          value={filters.until}
          min={filters.since || undefined}
          onChange={(event) => choose({ until: event.currentTarget.value })}
        />
        <Button
          variant="default"
          leftSection={<IconX size={16} />}
          disabled={!isFiltered}
          className={classes.clear ?? ""}
          onClick={clear}
        >
          Clear filters
        </Button>
      </div>
      {log.isError && <QueryError error={log.error} retry={() => void log.refetch()} />}
      {log.isPending && <Skeleton height={240} role="status" aria-label="Loading the audit log…" />}
      {log.data && (
        <DataTable
          label="Audit log"
          verticalSpacing={8}
          horizontalSpacing="sm"
          className={classes.log ?? ""}
          rows={entries}
          rowKey={({ id }) => id}
          columns={columns(facets)}
          empty={
            <Text size="sm">
              {isFiltered
                ? "No entry matches the filters."
                : "Changes appear here as soon as somebody makes one."}
            </Text>
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

const words = (values: readonly string[]): [string, string][] =>
  values.map((each) => [each, capitalize(each)]);

/** Return the options of a filter. A value of the URL that no entry has stays visible. */
function choices(all: string, known: readonly [string, string][], current: string | undefined) {
  const isKnown = !current || known.some(([value]) => value === current);
  return [["", all] as const, ...known, ...(isKnown ? [] : [[current, current] as const])].map(
    ([value, label]) => ({ value, label }),
  );
}

const columns = (facets: AuditFacets): Column<AuditEntry>[] => [
  { title: "When", className: classes.time, cell: ({ at }) => <TimeAgo time={at} /> },
  {
    title: "Who",
    visibleFrom: "sm",
    className: classes.person,
    cell: (entry) => (
      <>
        {entry.name || "Nobody"}
        {placesOf(entry, facets).map((place) => (
          <div key={place} className={classes.change}>
            {place}
          </div>
        ))}
      </>
    ),
  },
  {
    title: "What",
    cell: (entry) => (
      <div className={classes.words}>
        <What entry={entry} />
        <Changes entry={entry} facets={facets} />
        <div className={classes.who}>
          by{" "}
          {[entry.name || "nobody", ...placesOf(entry, facets), nameOfProject(entry.project_id, facets)].join(
            " · ",
          )}
        </div>
      </div>
    ),
  },
  {
    title: "Project",
    visibleFrom: "sm",
    className: classes.place,
    cell: ({ project_id }) => nameOfProject(project_id, facets),
  },
];

/** Return what tells people of the same name apart, and from where somebody acted. */
function placesOf({ name, person_id, token_id, address }: AuditEntry, facets: AuditFacets): string[] {
  const known = nameOfPerson(person_id, facets);
  return [known === name ? "" : known, token_id === null ? "" : "by a token", address].filter(Boolean);
}

function What({ entry }: { entry: AuditEntry }) {
  const page = pageOf(entry);
  const name = entry.object_name || entry.object_id;
  return (
    <div>
      <b>{capitalize(entry.action)}</b> {entry.kind}{" "}
      {page ? (
        <Anchor component={Link} to={page} inherit>
          {name}
        </Anchor>
      ) : (
        name
      )}
    </div>
  );
}

const MAX_LENGTH = 120;

/** Return a value. A long text is shown when it is opened. */
const shortened = (text: string) =>
  text.length <= MAX_LENGTH ? (
    text
  ) : (
    <details>
      <summary>{text.slice(0, MAX_LENGTH)}…</summary>
      {text}
    </details>
  );

/** The changed settings with their old and new values. */
function Changes({ entry, facets }: { entry: AuditEntry; facets: AuditFacets }) {
  const changes = changesOf(entry, facets);
  if (changes.length === 0) return null;
  return (
    <dl className={classes.changes}>
      {changes.map(({ label, before, after }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {before !== null && <del>{shortened(before)}</del>}
            {before !== null && after !== null && <span aria-hidden> → </span>}
            {after !== null && <ins>{shortened(after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
