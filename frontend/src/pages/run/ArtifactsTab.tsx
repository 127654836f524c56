import { Anchor, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconPackage } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { type ArtifactVersion, runArtifactsQuery } from "@/api/artifacts";
import type { Run } from "@/api/types";
import { ArtifactAliases } from "@/ui/ArtifactAliases";
import { DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { bytes } from "@/ui/format";
import { LogArtifactHint } from "@/ui/LogArtifactHint";
import { QueryError } from "@/ui/QueryError";
import { Short, TimeAgo } from "@/ui/Quantity";
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
      <DataTable
        label={title}
        frameClass={classes.card}
        verticalSpacing={6}
        className={classes.oneLine}
        rows={versions}
        rowKey={({ id }) => id}
        columns={[
          {
            title: "Artifact",
            cell: ({ artifact_id, name, version, aliases }) => (
              <>
                <Anchor
                  component={Link}
                  to={`/artifacts/${artifact_id}/v${version}`}
                  size="sm"
                  fw={500}
                  mr={8}
                >
                  {name}:v{version}
                </Anchor>
                <ArtifactAliases aliases={aliases} />
              </>
            ),
          },
          { title: "Kind", cell: ({ kind }) => kind },
          { title: "Files", numeric: true, cell: ({ file_count }) => file_count },
          {
            title: "Size",
            numeric: true,
            cell: (version) => (version.bytes > 0 ? bytes(version.bytes) : "–"),
          },
          {
            title: "Step",
            numeric: true,
            cell: ({ step }) => (step === null ? <Text c="dimmed">–</Text> : <Short value={step} />),
          },
          { title: "Logged", cell: ({ created_at }) => <TimeAgo time={created_at} /> },
        ]}
      />
    </section>
  );
}
