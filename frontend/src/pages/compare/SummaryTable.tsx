import { Button, Group, Select, Title, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import { metricNames } from "@/api/comparisons";
import { runsInFileName } from "@/api/runNumbers";
import type { Comparison } from "@/api/types";
import { saveCsv } from "@/charts/csv";
import { metricTitle, metricUnit } from "@/charts/metrics";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { type Column, DataTable } from "@/ui/DataTable";
import { duration, exact, short } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import classes from "./compare.module.css";
import {
  sortedRows,
  type Sorting,
  type SortKey,
  SUMMARY_HEADER,
  summaryCells,
  type SummaryRow,
  summaryRows,
} from "./comparison";
import { RunHeading } from "./RunHeading";
import { useFirst } from "./useFirst";

/** Rows that are shown at first. */
const FIRST_RUNS = 20;

/** Table of each run's results in one metric. The CSV file has all metrics. */
export function SummaryTable({
  comparison,
  metric,
  onMetric,
}: {
  comparison: Comparison;
  metric: string;
  onMetric: (metric: string | null) => void;
}) {
  const catalog = useMetricCatalog();
  const [sorting, setSorting] = useState<Sorting>({ key: "mean", descending: true });
  const names = metricNames(comparison);
  const columns = columnsOf(metricUnit(catalog, metric));
  const sorted = sortedRows(summaryRows(comparison, metric), sorting);
  const [rows, more] = useFirst(sorted, FIRST_RUNS, "runs");
  const sortBy = (key: SortKey) =>
    setSorting((now) => ({ key, descending: now.key === key ? !now.descending : key !== "name" }));
  const saveAll = () =>
    saveCsv(
      `compare-${runsInFileName(comparison.runs.map((run) => run.id))}.csv`,
      SUMMARY_HEADER,
      summaryCells(comparison),
    );

  return (
    <section className={classes.card} aria-label="Summary">
      <Group justify="space-between" mb="xs">
        <Group gap="sm">
          <Title order={2}>Summary</Title>
          <Select
            aria-label="Summary metric"
            size="xs"
            data={[...new Set([metric, ...names])].map((name) => ({
              value: name,
              label: metricTitle(catalog, name),
            }))}
            value={metric}
            allowDeselect={false}
            searchable
            onChange={onMetric}
          />
        </Group>
        <Button size="xs" variant="default" onClick={saveAll}>
          Download all metrics (CSV)
        </Button>
      </Group>
      <DataTable
        label="Results"
        verticalSpacing={6}
        rows={rows}
        rowKey={({ run }) => run.id}
        columns={columns.map(({ key, label, ...column }) => ({
          ...column,
          ...(key === "name" ? { className: classes.firstColumn } : { numeric: true }),
          title: (
            <UnstyledButton onClick={() => sortBy(key)} className={classes.sort}>
              {label} <span aria-hidden>{sorting.key === key && (sorting.descending ? "↓" : "↑")}</span>
            </UnstyledButton>
          ),
          headProps: {
            "aria-sort": sorting.key !== key ? "none" : sorting.descending ? "descending" : "ascending",
          },
        }))}
      />
      {more}
    </section>
  );
}

interface SortableColumn extends Column<SummaryRow> {
  key: SortKey;
  label: string;
}

const columnsOf = (unit: string): SortableColumn[] => [
  { key: "name", label: "Run", cell: ({ run }) => <RunHeading run={run} /> },
  { key: "last", label: "Last", cell: (row) => <Score value={row.last} meaning="Last" unit={unit} /> },
  { key: "max", label: "Max", cell: (row) => <Score value={row.max} meaning="Max" unit={unit} /> },
  {
    key: "mean",
    label: "Mean of last 100",
    cell: (row) => <Score value={row.mean} meaning="Mean of the last 100" unit={unit} />,
  },
  {
    key: "episodes",
    label: "Episodes",
    cell: ({ episodes }) => short(episodes),
    cellProps: ({ episodes }) => ({ title: exact(episodes) }),
  },
  {
    key: "seconds",
    label: "Duration",
    cell: ({ seconds }) => duration(seconds),
    cellProps: ({ seconds }) => ({ title: seconds === null ? undefined : exact(seconds, "s") }),
  },
];
