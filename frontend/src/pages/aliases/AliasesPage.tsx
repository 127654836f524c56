import { ActionIcon, Anchor, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconTag, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { type Alias, type AliasEntry, aliasesQuery, aliasHistoryQuery, useRemoveAlias } from "@/api/aliases";
import { DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { notifyDone } from "@/ui/notify";
import { QueryError } from "@/ui/QueryError";
import { Short, TimeAgo } from "@/ui/Quantity";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./aliases.module.css";

/** Aliases of checkpoints, with the history of the one that the URL names. */
export default function AliasesPage() {
  usePageTitle("Aliases");
  const aliases = useQuery(aliasesQuery);
  const name = useSearchParams()[0].get("name");
  return (
    <Stack className={classes.page} gap="md">
      <Stack gap={4}>
        <Title order={1}>Aliases</Title>
        <Text size="sm" c="dimmed">
          Names of checkpoints. Requests, commands and pages accept an alias wherever they take a checkpoint.
        </Text>
      </Stack>
      {aliases.isError && !aliases.data && (
        <QueryError error={aliases.error} retry={() => void aliases.refetch()} />
      )}
      {aliases.isPending && <Skeleton height={120} role="status" aria-label="Loading aliases…" />}
      {aliases.data?.length === 0 && (
        <EmptyState icon={IconTag} title="No aliases yet">
          Open the checkpoints of a run, and choose “Set alias…” in the menu of one.
        </EmptyState>
      )}
      {aliases.data && aliases.data.length > 0 && <AliasTable aliases={aliases.data} />}
      {name && <History name={name} />}
    </Stack>
  );
}

function AliasTable({ aliases }: { aliases: readonly Alias[] }) {
  const remove = useRemoveAlias();
  return (
    <DataTable
      label="Table of aliases"
      frameClass={classes.card}
      verticalSpacing={6}
      rows={aliases}
      rowKey={({ name }) => name}
      columns={[
        {
          title: "Alias",
          cell: ({ name }) => (
            <Anchor component={Link} to={`/aliases?name=${encodeURIComponent(name)}`} size="sm">
              {name}
            </Anchor>
          ),
        },
        { title: "Run", cell: (alias) => <NamedRun entry={alias} /> },
        {
          title: "Saved at",
          numeric: true,
          cell: (alias) => (alias.available ? <Step entry={alias} /> : "deleted"),
        },
        { title: "Since", cell: (alias) => <TimeAgo time={alias.changed_at} /> },
        { title: "Reason", cell: ({ why }) => why },
        {
          title: "Actions",
          isTitleHidden: true,
          cell: ({ name, may_edit }) =>
            may_edit && (
              <ActionIcon
                size={32}
                variant="subtle"
                aria-label={`Remove ${name}`}
                onClick={() => remove.mutate(name, { onSuccess: () => notifyDone(`${name} was removed.`) })}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            ),
          cellProps: () => ({ ta: "right" }),
        },
      ]}
    />
  );
}

function History({ name }: { name: string }) {
  const history = useQuery(aliasHistoryQuery(name));
  if (history.isError) return <QueryError error={history.error} retry={() => void history.refetch()} />;
  return (
    <section aria-label={`History of ${name}`}>
      <Title order={2} mb="xs">
        History of {name}
      </Title>
      <DataTable
        label="Table of changes"
        frameClass={classes.card}
        verticalSpacing={6}
        rows={history.data ?? []}
        rowKey={(entry) => entry.changed_at}
        columns={[
          { title: "When", cell: (entry) => <TimeAgo time={entry.changed_at} /> },
          {
            title: "Run",
            cell: (entry) => (entry.checkpoint_id === null ? "removed" : <NamedRun entry={entry} />),
          },
          { title: "Saved at", numeric: true, cell: (entry) => <Step entry={entry} /> },
          { title: "By", cell: ({ who }) => who ?? "–" },
          { title: "Reason", cell: ({ why }) => why },
        ]}
      />
    </section>
  );
}

function NamedRun({ entry }: { entry: AliasEntry }) {
  return (
    <Anchor component={Link} to={`/runs/${entry.run_id}/checkpoints`} size="sm">
      {entry.run_name ?? `Run ${entry.run_id}`}
    </Anchor>
  );
}

function Step({ entry }: { entry: AliasEntry }) {
  return entry.step === null ? null : <Short value={entry.step} unit="steps" />;
}
