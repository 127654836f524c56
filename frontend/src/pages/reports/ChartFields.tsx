import { Group, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { comparisonQuery, groupFields, metricNames } from "@/api/comparisons";
import type { ReportBlock } from "@/api/types";
import { CurveControls } from "@/charts/CurveControls";
import { axesOf } from "@/charts/curveView";
import { GroupControls } from "@/charts/GroupControls";
import { metricSections, metricTitle } from "@/charts/metrics";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { type ChartChoice, CHARTS, hasFields, isOfOneRun, readChoice, writeChoice } from "./chartChoice";
import classes from "./reports.module.css";
import { RunsField } from "./RunsField";

type ChartBlock = ReportBlock & { kind: "chart" };

interface ChartFieldsProps {
  block: ChartBlock;
  onChange: (block: ChartBlock) => void;
}

/** Fields to choose a figure, its runs and its view. The report stores the figure's URL. */
export function ChartFields({ block, onChange }: ChartFieldsProps) {
  const { address } = block;
  const known = hasFields(address);
  return (
    <>
      <FigureFields
        address={address}
        known={known}
        onChange={(choice) => onChange({ ...block, address: writeChoice(address, choice) })}
      />
      <details open={!known && address !== ""} className={classes.details}>
        <summary>Address</summary>
        <TextInput
          aria-label="Figure URL"
          description="URL of an API figure, such as /api/v1/figures/curves?runs=1,2. You can also use “Add to report” in a chart’s menu."
          className={classes.address}
          maxLength={4_000}
          value={address}
          onChange={(event) => onChange({ ...block, address: event.currentTarget.value.trim() })}
        />
      </details>
    </>
  );
}

interface FigureFieldsProps {
  address: string;
  known: boolean;
  onChange: (choice: ChartChoice) => void;
}

function FigureFields({ address, known, onChange }: FigureFieldsProps) {
  const choice = readChoice(address);
  const { path, metric, view } = choice;
  const runs = known ? choice.runs : [];
  const compared = useQuery(comparisonQuery(runs, [], false)).data;
  const kind = (
    <Select
      label="Chart"
      data={known ? CHARTS : [...CHARTS, { value: path, label: "Another figure" }]}
      value={path}
      allowDeselect={false}
      onChange={(next) => {
        const to = next ?? path;
        onChange({ ...choice, path: to, runs: isOfOneRun(to) ? choice.runs.slice(0, 1) : choice.runs });
      }}
    />
  );
  if (!known) return kind;
  const fields = (compared && groupFields(compared)) ?? [];
  return (
    <>
      <Group gap="xs" align="start" grow preventGrowOverflow={false}>
        {kind}
        {path === "figures/curves" && (
          <Metric
            metric={metric}
            names={compared ? metricNames(compared) : []}
            onChange={(next) => onChange({ ...choice, metric: next })}
          />
        )}
      </Group>
      <RunsField
        runs={runs}
        known={compared?.runs ?? []}
        single={isOfOneRun(path)}
        onChange={(next) => onChange({ ...choice, runs: next })}
      />
      {(path === "figures/curves" || path === "figures/evaluations") && runs.length > 0 && (
        <CurveControls
          view={view}
          onChange={(next) => onChange({ ...choice, view: next })}
          axes={axesOf(compared?.runs ?? [])}
          forks={path === "figures/curves" && compared?.runs.some(({ parent }) => parent !== null)}
        />
      )}
      {path === "figures/curves" && runs.length > 1 && (
        <GroupControls fields={fields} view={view} onChange={(next) => onChange({ ...choice, view: next })} />
      )}
    </>
  );
}

interface MetricProps {
  metric: string;
  names: readonly string[];
  onChange: (metric: string) => void;
}

function Metric({ metric, names, onChange }: MetricProps) {
  const catalog = useMetricCatalog();
  return (
    <Select
      label="Metric"
      searchable
      allowDeselect={false}
      data={metricSections(catalog, [...new Set([...names, metric])]).map(({ title, names: members }) => ({
        group: title,
        items: members.map((name) => ({ value: name, label: metricTitle(catalog, name) })),
      }))}
      value={metric}
      onChange={(next) => onChange(next ?? metric)}
      maxDropdownHeight={320}
    />
  );
}
