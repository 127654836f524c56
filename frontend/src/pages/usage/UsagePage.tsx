import { Button, Group, SegmentedControl, Skeleton, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconChartBar, IconDownload } from "@tabler/icons-react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { UsageTable } from "@/api/types";
import { usageFile, type UsageGroup, usageQuery } from "@/api/usage";
import { FigureFrame } from "@/charts/FigureFrame";
import { DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { Caps } from "./Caps";
import { drawMonths, formatHours, type Measure, nameOf, totalsOf } from "./hours";
import classes from "./usage.module.css";

const GROUPS: readonly { value: UsageGroup; label: string }[] = [
  { value: "project", label: "Projects" },
  { value: "person", label: "People" },
  { value: "study", label: "Studies" },
  { value: "kind", label: "Kinds of work" },
];
const MEASURES: readonly { value: Measure; label: string }[] = [
  { value: "core_hours", label: "Core hours" },
  { value: "gpu_hours", label: "GPU hours" },
];

/** Core and GPU hours of runs and jobs, by month and project, person, study or kind of work. */
export default function UsagePage() {
  usePageTitle("Usage");
  const [group, setGroup] = useState<UsageGroup>("project");
  const [measure, setMeasure] = useState<Measure>("core_hours");
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState<string | null>(null);
  const usage = useQuery(usageQuery(group, from, to));
  const table = usage.data;
  return (
    <Stack className={classes.page} gap="md">
      <Stack gap={4}>
        <Title order={1}>Usage</Title>
        <Text size="sm" c="dimmed" role="status">
          {table &&
            `${formatHours(table.core_hours)} core hours and ${formatHours(table.gpu_hours)} GPU hours, with work that still runs`}
        </Text>
      </Stack>
      <Group gap="sm" align="end">
        <SegmentedControl
          aria-label="Group by"
          data={[...GROUPS]}
          value={group}
          onChange={(chosen) => setGroup(chosen)}
        />
        <SegmentedControl
          aria-label="Measure"
          data={[...MEASURES]}
          value={measure}
          onChange={(chosen) => setMeasure(chosen)}
        />
        <TextInput
          type="date"
          label="From"
          value={from ?? ""}
          max={to ?? undefined}
          onChange={({ currentTarget: { value } }) => setFrom(value || null)}
        />
        <TextInput
          type="date"
          label="To"
          value={to ?? ""}
          min={from ?? undefined}
          onChange={({ currentTarget: { value } }) => setTo(value || null)}
        />
        <Button
          component="a"
          href={usageFile(group, from, to)}
          download
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Download CSV
        </Button>
      </Group>
      {usage.isError && !table && <QueryError error={usage.error} retry={() => void usage.refetch()} />}
      {usage.isPending && <Skeleton height={320} radius="sm" role="status" aria-label="Loading usage…" />}
      {table?.rows.length === 0 && (
        <EmptyState icon={IconChartBar} title="No use in this time">
          Hours appear here as soon as a run or a job starts. They stay when it is deleted.
        </EmptyState>
      )}
      {table && table.rows.length > 0 && <Hours table={table} group={group} measure={measure} />}
      <Caps />
    </Stack>
  );
}

interface HoursProps {
  table: UsageTable;
  group: UsageGroup;
  measure: Measure;
}

/** The chart of the months, and the sums of all of them. */
function Hours({ table, group, measure }: HoursProps) {
  const figure = drawMonths(table, group, measure);
  const totals = totalsOf(table, group);
  const title = measure === "core_hours" ? "Core hours by month" : "GPU hours by month";
  return (
    <>
      <FigureFrame
        title={title}
        label={`${title}, one color for each ${group}.`}
        query={queryOptions({
          queryKey: ["usage-figure", group, measure, table],
          queryFn: () => figure,
          staleTime: Infinity,
        })}
        zoom={null}
        onZoom={() => undefined}
        revision={`${group} ${measure}`}
        legend
        height={300}
        empty={`No ${measure === "core_hours" ? "core" : "GPU"} hours in this time.`}
        file="usage"
        points={() =>
          Promise.resolve({
            header: ["month", group, "core_hours", "gpu_hours"],
            rows: table.rows.map((row) => [row.month, nameOf(row, group), row.core_hours, row.gpu_hours]),
          })
        }
      />
      <DataTable
        label="Table of hours"
        className={classes.table}
        rows={totals}
        rowKey={({ name }) => name}
        columns={[
          {
            title: GROUPS.find(({ value }) => value === group)?.label,
            isRowHeader: true,
            cell: ({ name }) => name,
          },
          { title: "Core hours", numeric: true, cell: ({ core_hours }) => formatHours(core_hours) },
          { title: "GPU hours", numeric: true, cell: ({ gpu_hours }) => formatHours(gpu_hours) },
        ]}
      />
    </>
  );
}
