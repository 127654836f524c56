import { Anchor, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { IconPackage } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { type ArtifactVersion, runArtifactsQuery } from "@/api/artifacts";
import type { Run } from "@/api/types";
import { ArtifactAliases } from "@/ui/ArtifactAliases";
import { EmptyState } from "@/ui/EmptyState";
import { bytes } from "@/ui/format";
import { LogArtifactHint } from "@/ui/LogArtifactHint";
import { QueryError } from "@/ui/QueryError";
import { Short, TimeAgo } from "@/ui/Quantity";
import { WideTable } from "@/ui/WideTable";
import classes from "./run.module.css";

/** Versions of artifacts that a run made and used. */
export function ArtifactsTab({ run }: { run: Run }) {
  const artifacts = useQuery(runArtifactsQuery(run.id));
  if (artifacts.isError && !artifacts.data) {
    return <QueryError error={artifacts.error} retry={() => void artifacts.refetch()} />;
  }
  if (!artifacts.data) return <Skeleton height={120} role="status" aria-label="Loading artifacts…" />;
  const { made, used } = artifacts.data;
  if (made.length + used.length === 0) {
    return (
      <EmptyState icon={IconPackage} title="No artifacts in this run">
        <LogArtifactHint />
      </EmptyState>
    );
  }
  return (
    <Stack gap="md">
      <Versions title="Made by this run" versions={made} />
      <Versions title="Used by this run" versions={used} />
    </Stack>
  );
}

function Versions({ title, versions }: { title: string; versions: readonly ArtifactVersion[] }) {
  if (versions.length === 0) return null;
  return (
    <section aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      <WideTable label={title} className={classes.card}>
        <Table verticalSpacing={6} className={classes.oneLine}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Artifact</Table.Th>
              <Table.Th scope="col">Kind</Table.Th>
              <Table.Th scope="col" ta="right">
                Files
              </Table.Th>
              <Table.Th scope="col" ta="right">
                Size
              </Table.Th>
              <Table.Th scope="col" ta="right">
                Step
              </Table.Th>
              <Table.Th scope="col">Logged</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {versions.map((version) => (
              <Table.Tr key={version.id}>
                <Table.Td>
                  <Anchor
                    component={Link}
                    to={`/artifacts/${version.artifact_id}/v${version.version}`}
                    size="sm"
                    fw={500}
                    mr={8}
                  >
                    {version.name}:v{version.version}
                  </Anchor>
                  <ArtifactAliases aliases={version.aliases} />
                </Table.Td>
                <Table.Td>{version.kind}</Table.Td>
                <Table.Td ta="right">{version.file_count}</Table.Td>
                <Table.Td ta="right">{version.bytes > 0 ? bytes(version.bytes) : "–"}</Table.Td>
                <Table.Td ta="right">
                  {version.step === null ? <Text c="dimmed">–</Text> : <Short value={version.step} />}
                </Table.Td>
                <Table.Td>
                  <TimeAgo time={version.created_at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </section>
  );
}
