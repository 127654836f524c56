import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconPackage } from "@tabler/icons-react";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { type Artifact, artifactsQuery } from "@/api/artifacts";
import { ArtifactAliases } from "@/ui/ArtifactAliases";
import { useCurrentProject } from "@/ui/currentProject";
import { DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { bytes, exact } from "@/ui/format";
import { LogArtifactHint } from "@/ui/LogArtifactHint";
import { QueryError } from "@/ui/QueryError";
import { TimeAgo } from "@/ui/Quantity";
import { SearchField } from "@/ui/SearchField";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./artifacts.module.css";

/** List of artifacts of a project, or of all. */
export default function ArtifactsPage() {
  usePageTitle("Artifacts");
  const project = useCurrentProject();
  const [params, setParams] = useSearchParams();
  const search = params.get("text") ?? "";
  const artifacts = useInfiniteQuery({
    ...artifactsQuery(project, search),
    placeholderData: keepPreviousData,
  });
  const found = artifacts.data?.pages.flatMap(({ items }) => items);
  return (
    <Stack className={classes.sheet} gap="md">
      <Stack gap={4}>
        <Title order={1}>Artifacts</Title>
        <Text size="sm" c="dimmed">
          Versioned files of your scripts, such as models and data sets, with the runs that made and used
          them.
        </Text>
      </Stack>
      {(search !== "" || (found && found.length > 0)) && (
        <SearchField
          label="Search artifacts by name"
          placeholder="Search by name"
          className={classes.search}
          maxLength={128}
          text={search}
          onSearch={(text) =>
            setParams(
              (now) => {
                if (text) now.set("text", text);
                else now.delete("text");
                return now;
              },
              { replace: true },
            )
          }
        />
      )}
      {artifacts.isError && !found && (
        <QueryError error={artifacts.error} retry={() => void artifacts.refetch()} />
      )}
      {artifacts.isPending && (
        <Skeleton height={160} radius="sm" role="status" aria-label="Loading artifacts…" />
      )}
      {found?.length === 0 &&
        (search ? (
          <Text size="sm" role="status">
            No artifact has “{search}” in its name.
          </Text>
        ) : (
          <EmptyState icon={IconPackage} title={project ? `No artifacts in ${project}` : "No artifacts yet"}>
            <LogArtifactHint />
          </EmptyState>
        ))}
      {found && found.length > 0 && <ArtifactTable artifacts={found} showsProject={project === null} />}
      {artifacts.hasNextPage && (
        <Group>
          <Button
            variant="default"
            loading={artifacts.isFetchingNextPage}
            onClick={() => void artifacts.fetchNextPage()}
          >
            Show more
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface ArtifactTableProps {
  artifacts: readonly Artifact[];
  showsProject: boolean;
}

function ArtifactTable({ artifacts, showsProject }: ArtifactTableProps) {
  return (
    <DataTable
      label="Artifacts"
      frameClass={classes.card}
      verticalSpacing="xs"
      className={classes.table}
      rows={artifacts}
      rowKey={({ id }) => id}
      columns={[
        {
          title: "Artifact",
          className: classes.nameCell,
          cell: ({ id, name }) => (
            <Anchor component={Link} to={`/artifacts/${id}`} size="sm" fw={500}>
              {name}
            </Anchor>
          ),
        },
        showsProject && { title: "Project", cell: ({ project }) => project },
        { title: "Kind", cell: ({ kind }) => kind },
        {
          title: "Newest version",
          cell: ({ latest }) => (
            <>
              v{latest.version}{" "}
              <ArtifactAliases aliases={latest.aliases.filter((alias) => alias !== "latest")} />
            </>
          ),
        },
        { title: "Versions", numeric: true, cell: ({ version_count }) => exact(version_count) },
        {
          title: "Size",
          numeric: true,
          cell: ({ latest }) => (latest.bytes > 0 ? bytes(latest.bytes) : "–"),
        },
        {
          title: "Made by",
          cell: ({ latest: { run_id, run_name } }) =>
            run_id === null ? (
              "–"
            ) : (
              <Anchor component={Link} to={`/runs/${run_id}/artifacts`} size="sm">
                {run_name ?? `Run ${run_id}`}
              </Anchor>
            ),
        },
        { title: "Changed", cell: ({ latest }) => <TimeAgo time={latest.created_at} /> },
      ]}
    />
  );
}
