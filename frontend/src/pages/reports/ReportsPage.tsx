import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconPlus, IconReportAnalytics } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useMayWrite } from "@/api/projects";
import { reportsQuery } from "@/api/reports";
import type { ReportSummary } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./reports.module.css";
import { useNewReport } from "./useNewReport";

/** List of reports. */
export default function ReportsPage() {
  usePageTitle("Reports");
  const project = useCurrentProject();
  const reports = useQuery(reportsQuery(project));
  const begin = useNewReport();
  const mayWrite = useMayWrite();
  return (
    <Stack className={classes.sheet} gap="md">
      <Group justify="space-between" align="start">
        <Stack gap={4}>
          <Title order={1}>Reports</Title>
          <Text size="sm" c="dimmed">
            Pages of text and of live charts, tables and replays.
          </Text>
        </Stack>
        {mayWrite && (
          <Group gap="xs">
            <Button component={Link} to="/examples" variant="default" h={32} px="sm">
              Open examples
            </Button>
            <Button
              leftSection={<IconPlus size={16} />}
              h={32}
              px="sm"
              loading={begin.isPending}
              onClick={begin.start}
            >
              New report
            </Button>
          </Group>
        )}
      </Group>
      {reports.isError && !reports.data && (
        <QueryError error={reports.error} retry={() => void reports.refetch()} />
      )}
      {reports.isPending && <Skeleton height={160} radius="sm" role="status" aria-label="Loading reports…" />}
      {reports.data?.length === 0 && (
        <EmptyState
          icon={IconReportAnalytics}
          title={project ? `No reports in ${project}` : "No reports yet"}
        >
          Create a report to write down results with charts, tables and replays. You can share it by a link or
          export it as one file. “Add to report” in a chart’s menu adds the chart.
        </EmptyState>
      )}
      {reports.data && reports.data.length > 0 && <ReportTable reports={reports.data} />}
    </Stack>
  );
}

function ReportTable({ reports }: { reports: readonly ReportSummary[] }) {
  return (
    <DataTable
      label="Reports"
      frameClass={classes.card}
      verticalSpacing="xs"
      rows={reports}
      rowKey={({ id }) => id}
      columns={[
        {
          title: "Report",
          className: classes.block,
          cell: ({ id, title }) => (
            <Anchor component={Link} to={`/reports/${id}`} size="sm" fw={500}>
              {title}
            </Anchor>
          ),
        },
        { title: "Blocks", numeric: true, cell: ({ blocks }) => blocks },
        { title: "Link", cell: ({ shared }) => (shared ? "Shared" : "–") },
        { title: "Changed", cell: (report) => <TimeAgo time={report.updated_at} /> },
      ]}
    />
  );
}
