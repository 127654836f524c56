import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAdjustments, IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useMayWrite } from "@/api/projects";
import { studiesQuery } from "@/api/studies";
import type { StudySummary } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { score } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./studies.module.css";
import { StudyProgress, StudyState } from "./StudyState";

/** List of studies. */
export default function StudiesPage() {
  usePageTitle("Studies");
  const project = useCurrentProject();
  const mayWrite = useMayWrite();
  const studies = useInfiniteQuery(studiesQuery(project));
  const items = studies.data?.pages.flatMap((page) => page.items);
  return (
    <Stack className={classes.sheet} gap="md">
      <Group justify="space-between" align="start">
        <Stack gap={4}>
          <Title order={1}>Studies</Title>
          <Text size="sm" c="dimmed">
            A study launches many runs to answer one question. Single runs start first.
          </Text>
        </Stack>
        {mayWrite && (
          <Button component={Link} to="/launch?study=new" leftSection={<IconPlus size={16} />} h={32} px="sm">
            New study
          </Button>
        )}
      </Group>
      {studies.isError && !items && <QueryError error={studies.error} retry={() => void studies.refetch()} />}
      {studies.isPending && <Skeleton height={160} radius="sm" role="status" aria-label="Loading studies…" />}
      {items?.length === 0 && (
        <EmptyState icon={IconAdjustments} title={project ? `No studies in ${project}` : "No studies yet"}>
          <Stack align="center" gap="md">
            <span>
              Choose the settings to vary, such as the learning rate, and several seeds. Arcadia launches the
              runs and shows the mean return of each setting with its confidence interval.
            </span>
            {mayWrite && (
              <Button component={Link} to="/launch?study=new">
                Start study
              </Button>
            )}
          </Stack>
        </EmptyState>
      )}
      {items && items.length > 0 && <StudyTable studies={items} />}
      {studies.hasNextPage && (
        <Button
          variant="default"
          w="fit-content"
          loading={studies.isFetchingNextPage}
          onClick={() => void studies.fetchNextPage()}
        >
          Show older studies
        </Button>
      )}
    </Stack>
  );
}

function StudyTable({ studies }: { studies: readonly StudySummary[] }) {
  return (
    <DataTable
      label="Studies"
      frameClass={classes.card}
      className={classes.table}
      verticalSpacing="xs"
      rows={studies}
      rowKey={({ id }) => id}
      columns={[
        {
          title: "Study",
          className: classes.label,
          cell: ({ id, name }) => (
            <Anchor component={Link} to={`/studies/${id}`} size="sm" fw={500}>
              {name}
            </Anchor>
          ),
        },
        { title: "State", cell: (study) => <StudyState study={study} /> },
        { title: "Runs", cell: (study) => <StudyProgress study={study} />, cellProps: () => ({ miw: 200 }) },
        { title: "Points", numeric: true, cell: ({ points }) => points },
        { title: "Best mean return", numeric: true, cell: ({ best }) => score(best) },
        { title: "Created", cell: ({ created_at }) => <TimeAgo time={created_at} /> },
      ]}
    />
  );
}
