import { ActionIcon, Anchor, Skeleton, Stack, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { IconTag, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { type Alias, type AliasEntry, aliasesQuery, aliasHistoryQuery, useRemoveAlias } from "@/api/aliases";
import { EmptyState } from "@/ui/EmptyState";
import { notifyDone } from "@/ui/notify";
import { QueryError } from "@/ui/QueryError";
import { Short, TimeAgo } from "@/ui/Quantity";
import { usePageTitle } from "@/ui/usePageTitle";
import { WideTable } from "@/ui/WideTable";
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
    <WideTable label="Table of aliases" className={classes.card}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Alias</Table.Th>
            <Table.Th>Run</Table.Th>
            <Table.Th ta="right">Saved at</Table.Th>
            <Table.Th>Since</Table.Th>
            <Table.Th>Reason</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {aliases.map((alias) => (
            <Table.Tr key={alias.name}>
              <Table.Td>
                <Anchor component={Link} to={`/aliases?name=${encodeURIComponent(alias.name)}`} size="sm">
                  {alias.name}
                </Anchor>
              </Table.Td>
              <NamedRun entry={alias} />
              <Table.Td ta="right">{alias.available ? <Step entry={alias} /> : "deleted"}</Table.Td>
              <Table.Td>
                <TimeAgo time={alias.changed_at} />
              </Table.Td>
              <Table.Td>{alias.why}</Table.Td>
              <Table.Td ta="right">
                <ActionIcon
                  size={32}
                  variant="subtle"
                  aria-label={`Remove ${alias.name}`}
                  onClick={() =>
                    remove.mutate(alias.name, { onSuccess: () => notifyDone(`${alias.name} was removed.`) })
                  }
                >
                  <IconTrash size={16} aria-hidden />
                </ActionIcon>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
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
      <WideTable label="Table of changes" className={classes.card}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              <Table.Th>Run</Table.Th>
              <Table.Th ta="right">Saved at</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th>Reason</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {(history.data ?? []).map((entry) => (
              <Table.Tr key={entry.changed_at}>
                <Table.Td>
                  <TimeAgo time={entry.changed_at} />
                </Table.Td>
                {entry.checkpoint_id === null ? <Table.Td>removed</Table.Td> : <NamedRun entry={entry} />}
                <Table.Td ta="right">
                  <Step entry={entry} />
                </Table.Td>
                <Table.Td>{entry.who ?? "–"}</Table.Td>
                <Table.Td>{entry.why}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </section>
  );
}

function NamedRun({ entry }: { entry: AliasEntry }) {
  return (
    <Table.Td>
      <Anchor component={Link} to={`/runs/${entry.run_id}/checkpoints`} size="sm">
        {entry.run_name ?? `Run ${entry.run_id}`}
      </Anchor>
    </Table.Td>
  );
}

function Step({ entry }: { entry: AliasEntry }) {
  return entry.step === null ? null : <Short value={entry.step} unit="steps" />;
}
