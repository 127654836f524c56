import { Button, Group, Select, Table, Title, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import { metricNames } from "@/api/comparisons";
import { runsInFileName } from "@/api/runNumbers";
import type { Comparison } from "@/api/types";
import { saveCsv } from "@/charts/csv";
import { metricTitle, metricUnit } from "@/charts/metrics";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { duration, exact, short } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { WideTable } from "@/ui/WideTable";
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

const COLUMNS: { key: SortKey; label: string }[] = [
  { key: "name", label: "Run" },
  { key: "last", label: "Last" },
  { key: "max", label: "Max" },
  { key: "mean", label: "Mean of last 100" },
  { key: "episodes", label: "Episodes" },
  { key: "seconds", label: "Duration" },
];

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
  const rows = sortedRows(summaryRows(comparison, metric), sorting);
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
      <WideTable label="Results">
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              {COLUMNS.map(({ key, label }) => (
                <SortableHead
                  key={key}
                  label={label}
                  right={key !== "name"}
                  sorted={sorting.key === key ? (sorting.descending ? "descending" : "ascending") : "none"}
                  onSort={() => sortBy(key)}
                />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Row key={row.run.id} row={row} unit={metricUnit(catalog, metric)} />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </section>
  );
}

function Row({ row, unit }: { row: SummaryRow; unit: string }) {
  return (
    <Table.Tr>
      <Table.Td className={classes.firstColumn}>
        <RunHeading run={row.run} />
      </Table.Td>
      <Table.Td ta="right">
        <Score value={row.last} meaning="Last" unit={unit} />
      </Table.Td>
      <Table.Td ta="right">
        <Score value={row.max} meaning="Max" unit={unit} />
      </Table.Td>
      <Table.Td ta="right">
        <Score value={row.mean} meaning="Mean of the last 100" unit={unit} />
      </Table.Td>
      <Table.Td ta="right" title={exact(row.episodes)}>
        {short(row.episodes)}
      </Table.Td>
      <Table.Td ta="right" title={row.seconds === null ? undefined : exact(row.seconds, "s")}>
        {duration(row.seconds)}
      </Table.Td>
    </Table.Tr>
  );
}

interface SortableHeadProps {
  label: string;
  right: boolean;
  sorted: "ascending" | "descending" | "none";
  onSort: () => void;
}

function SortableHead({ label, right, sorted, onSort }: SortableHeadProps) {
  return (
    <Table.Th
      aria-sort={sorted}
      ta={right ? "right" : "left"}
      className={right ? undefined : classes.firstColumn}
    >
      <UnstyledButton onClick={onSort} className={classes.sort}>
        {label} <span aria-hidden>{sorted === "none" ? "" : sorted === "descending" ? "↓" : "↑"}</span>
      </UnstyledButton>
    </Table.Th>
  );
}
