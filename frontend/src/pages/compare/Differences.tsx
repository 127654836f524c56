import { Group, Switch, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { ComparedRun, Comparison, Difference } from "@/api/types";
import { shown } from "@/config-form/draft";
import { type CellProps, type Column, DataTable } from "@/ui/DataTable";
import { plural } from "@/ui/format";
import classes from "./compare.module.css";
import { groupedRuns } from "./comparison";
import { RunHeading } from "./RunHeading";
import { useFirst } from "./useFirst";

/** Number of differing facts that are shown at first: two environments can differ in 100 packages. */
const FIRST_FACTS = 8;

/** Code, packages, hosts and GPUs of the runs, where they differ. */
export function ProvenanceDifferences({ comparison }: { comparison: Comparison }) {
  const facts = comparison.provenance;
  const [rows, more] = useFirst(facts, FIRST_FACTS, "differences");
  if (facts.length === 0) return null;
  return (
    <section className={classes.card} aria-label="Provenance differences">
      <Title order={2} mb="xs">
        Provenance
      </Title>
      <DifferenceTable
        label="Provenances"
        column="Differs in"
        missing={() => "Not recorded"}
        rows={rows}
        groups={groupedByValues(comparison.runs, facts)}
      />
      {more}
    </section>
  );
}

/** Group runs that agree in all rows. */
function groupedByValues(runs: readonly ComparedRun[], rows: readonly Difference[]): ComparedRun[][] {
  const groups = new Map<string, ComparedRun[]>();
  for (const run of runs) {
    const key = JSON.stringify(rows.map(({ values }) => values[String(run.id)] ?? null));
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()];
}

/** Configurations of the runs side by side. Runs that differ only in the seed share a column. */
export function Differences({ comparison }: { comparison: Comparison }) {
  const [all, setAll] = useState(false);
  const { runs, differences } = comparison;
  const differing = differences.filter((row) => !row.same);
  const rows = all ? differences : differing;
  return (
    <section className={classes.card} aria-label="Configuration differences">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Configuration</Title>
        <Switch
          size="xs"
          label={`Show ${plural(differences.length - differing.length, "identical setting")}`}
          checked={all}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
      </Group>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {runs.length === 1
            ? "Add another run to see differences."
            : "These runs have the same configuration."}
        </Text>
      ) : (
        <DifferenceTable
          label="Configurations"
          column="Setting"
          missing={(run) => `${run.method} does not have this setting.`}
          rows={rows}
          groups={groupedRuns(comparison)}
        />
      )}
    </section>
  );
}

interface DifferenceTableProps {
  label: string;
  /** Heading of the names of the rows. */
  column: string;
  /** Explain why a run has no value. */
  missing: (run: ComparedRun) => string;
  rows: readonly Difference[];
  groups: readonly ComparedRun[][];
}

/** Columns that are shown at first. */
const FIRST_GROUPS = 20;

function DifferenceTable({ label, column, missing, rows, groups }: DifferenceTableProps) {
  const [shownGroups, more] = useFirst(groups, FIRST_GROUPS, "columns");
  return (
    <>
      <DataTable
        label={label}
        verticalSpacing={6}
        rows={rows}
        rowKey={({ field }) => field}
        columns={[
          {
            title: column,
            className: classes.firstColumn,
            isRowHeader: true,
            cell: ({ title }) => title,
            cellProps: ({ field }) => ({ title: field }),
          },
          ...shownGroups.map((group): Column<Difference> => ({
            title: group.map((run) => <RunHeading key={run.id} run={run} />),
            headProps: { className: classes.group },
            cell: (row) => (having(row, group).length > 0 ? valuesOf(row, group).join(", ") : "–"),
            cellProps: (row) => cellProps(row, group, missing),
          })),
        ]}
      />
      {more}
    </>
  );
}

/** Return the runs of a group that have a value. */
const having = ({ values }: Difference, group: readonly ComparedRun[]) =>
  group.filter(({ id }) => String(id) in values);

const valuesOf = (row: Difference, group: readonly ComparedRun[]) => [
  ...new Set(having(row, group).map(({ id }) => shown(row.values[String(id)]))),
];

function cellProps(
  row: Difference,
  group: readonly ComparedRun[],
  missing: DifferenceTableProps["missing"],
): CellProps {
  const runs = having(row, group);
  const [first] = group;
  if (runs.length === 0) return { c: "dimmed", title: first && missing(first) };
  if (!runs.every(({ id }) => row.marked.includes(id))) return {};
  return { className: classes.differs, title: "Differs from most runs" };
}
