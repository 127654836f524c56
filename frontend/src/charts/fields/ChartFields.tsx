import { Group, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { comparisonQuery, groupFields, metricNames } from "@/api/comparisons";
import { CurveControls } from "../CurveControls";
import { axesOf } from "../curveView";
import { GroupControls } from "../GroupControls";
import { metricSections, metricTitle } from "../metrics";
import { useMetricCatalog } from "../useMetricCatalog";
import {
  type ChartChoice,
  CHARTS,
  hasCurveView,
  hasFields,
  hasLogScales,
  isOfOneRun,
  readChoice,
  writeChoice,
} from "./chartChoice";
import classes from "./fields.module.css";
import { RunsField } from "./RunsField";

interface ChartFieldsProps {
  /** URL of the figure, which stores all choices. */
  address: string;
  onChange: (address: string) => void;
  /** Runs that are selected otherwise, such as by a filter. There is then no field for runs. */
  selected?: readonly number[];
}

/** Fields to choose a figure, its runs and its view. */
export function ChartFields({ address, onChange, selected }: ChartFieldsProps) {
  const known = hasFields(address);
  return (
    <>
      <FigureFields
        address={address}
        known={known}
        selected={selected}
        onChange={(choice) => onChange(writeChoice(address, choice))}
      />
      <details open={!known && address !== ""} className={classes.details}>
        <summary>Address</summary>
        <TextInput
          aria-label="Figure URL"
          description="URL of an API figure, such as /api/v1/figures/curves?runs=1,2. You can also use “Add to report” in a chart’s menu."
          className={classes.address}
          maxLength={4_000}
          value={address}
          onChange={(event) => onChange(event.currentTarget.value.trim())}
        />
      </details>
    </>
  );
}

interface FigureFieldsProps {
  address: string;
  known: boolean;
  selected: readonly number[] | undefined;
  onChange: (choice: ChartChoice) => void;
}

function FigureFields({ address, known, selected, onChange }: FigureFieldsProps) {
  const choice = readChoice(address);
  const { path, view } = choice;
  const single = isOfOneRun(path);
  const runs = !known ? [] : (selected?.slice(0, single ? 1 : undefined) ?? choice.runs);
  const compared = useQuery(comparisonQuery(runs, [], false)).data;
  const kind = (
    <Select
      label="Chart"
      data={known ? CHARTS : [...CHARTS, { value: path, label: "Another figure" }]}
      value={path}
      allowDeselect={false}
      maxDropdownHeight={320}
      onChange={(next) => {
        const to = next ?? path;
        onChange({ ...choice, path: to, runs: isOfOneRun(to) ? choice.runs.slice(0, 1) : choice.runs });
      }}
    />
  );
  if (!known) return kind;
  const fields = (compared && groupFields(compared)) ?? [];
  const isCurve = path === "figures/curves";
  return (
    <>
      <Group gap="xs" align="start" grow preventGrowOverflow={false}>
        {kind}
        <Axes choice={choice} names={compared ? metricNames(compared) : []} onChange={onChange} />
      </Group>
      {!selected && (
        <RunsField
          runs={runs}
          known={compared?.runs ?? []}
          single={single}
          onChange={(next) => onChange({ ...choice, runs: next })}
        />
      )}
      {hasCurveView(path) && runs.length > 0 && (
        <CurveControls
          view={view}
          onChange={(next) => onChange({ ...choice, view: next })}
          axes={axesOf(compared?.runs ?? [])}
          forks={isCurve && compared?.runs.some(({ parent }) => parent !== null)}
        />
      )}
      {hasLogScales(path) && (
        <Group gap="md">
          <Switch
            size="xs"
            label="Log x"
            checked={view.xLog}
            onChange={(event) =>
              onChange({ ...choice, view: { ...view, xLog: event.currentTarget.checked } })
            }
          />
          <Switch
            size="xs"
            label="Log y"
            checked={view.yLog}
            onChange={(event) =>
              onChange({ ...choice, view: { ...view, yLog: event.currentTarget.checked } })
            }
          />
        </Group>
      )}
      {isCurve && runs.length > 1 && (
        <GroupControls fields={fields} view={view} onChange={(next) => onChange({ ...choice, view: next })} />
      )}
    </>
  );
}

interface AxesProps {
  choice: ChartChoice;
  /** Metrics that the runs have reported. */
  names: readonly string[];
  onChange: (choice: ChartChoice) => void;
}

/** The metrics or numbers on the axes of a figure. */
function Axes({ choice, names, onChange }: AxesProps) {
  const { path, metric, xMetric, xNumber, yNumber } = choice;
  switch (path) {
    case "figures/curves":
    case "figures/percentiles":
      return (
        <Metric
          label="Metric"
          metric={metric}
          names={names}
          onChange={(next) => onChange({ ...choice, metric: next })}
        />
      );
    case "figures/metric-by-metric":
      return (
        <>
          <Metric
            label="Horizontal axis"
            metric={xMetric}
            names={names}
            onChange={(next) => onChange({ ...choice, xMetric: next })}
          />
          <Metric
            label="Vertical axis"
            metric={metric}
            names={names}
            onChange={(next) => onChange({ ...choice, metric: next })}
          />
        </>
      );
    case "figures/scatter":
      return (
        <>
          <NumberOfRun
            label="Horizontal axis"
            value={xNumber}
            onChange={(next) => onChange({ ...choice, xNumber: next })}
          />
          <NumberOfRun
            label="Vertical axis"
            value={yNumber}
            onChange={(next) => onChange({ ...choice, yNumber: next })}
          />
        </>
      );
    default:
      return null;
  }
}

interface NumberOfRunProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** Field for a setting, a result or an expression. */
function NumberOfRun({ label, value, onChange }: NumberOfRunProps) {
  return (
    <TextInput
      label={label}
      placeholder="learning_rate, best_return / hours or last(train/entropy)"
      title="A setting, a result, a metric such as last(train/entropy), or an expression such as best_return / hours"
      spellCheck={false}
      maxLength={2_000}
      defaultValue={value}
      onBlur={(event) => onChange(event.currentTarget.value.trim() || value)}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}

interface MetricProps {
  label: string;
  metric: string;
  names: readonly string[];
  onChange: (metric: string) => void;
}

function Metric({ label, metric, names, onChange }: MetricProps) {
  const catalog = useMetricCatalog();
  return (
    <Select
      label={label}
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
