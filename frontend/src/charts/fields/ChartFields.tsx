import { Group, Select, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { comparisonQuery, groupFields, metricNames } from "@/api/comparisons";
import { kindAt } from "@/api/figures";
import type { FigureKind } from "@/api/types";
import { CurveControls } from "../CurveControls";
import { axesOf } from "../curveView";
import { useFigureKinds } from "../figureKind";
import { GroupControls } from "../GroupControls";
import { metricSections, metricTitle } from "../metrics";
import { useMetricCatalog } from "../useMetricCatalog";
import { type ChartChoice, isGroupable, readChoice, showsNumbers, writeChoice } from "./chartChoice";
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
  const kinds = useFigureKinds().filter(({ in_editors }) => in_editors);
  const kind = kindAt(kinds, address);
  const labels = kinds.map(({ name, label }) => ({ value: name, label }));
  const choose = (name: string | null) => {
    const [from, to] = [kind ?? kinds[0], kinds.find((each) => each.name === name)];
    if (!from || !to) return;
    const choice = readChoice(from, address);
    onChange(
      writeChoice(to, { ...choice, runs: to.one_run ? choice.runs.slice(0, 1) : choice.runs }, address),
    );
  };
  const select = (
    <Select
      label="Chart"
      data={kind ? labels : [...labels, { value: "", label: "Another figure" }]}
      value={kind?.name ?? ""}
      allowDeselect={false}
      maxDropdownHeight={320}
      onChange={choose}
    />
  );
  return (
    <>
      {kind ? (
        <FigureFields
          kind={kind}
          select={select}
          choice={readChoice(kind, address)}
          selected={selected}
          onChange={(choice) => onChange(writeChoice(kind, choice, address))}
        />
      ) : (
        select
      )}
      <details open={!kind && address !== ""} className={classes.details}>
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
  kind: FigureKind;
  /** Field to choose another figure. */
  select: ReactNode;
  choice: ChartChoice;
  selected: readonly number[] | undefined;
  onChange: (choice: ChartChoice) => void;
}

function FigureFields({ kind, select, choice, selected, onChange }: FigureFieldsProps) {
  const { view } = choice;
  const runs = selected?.slice(0, kind.one_run ? 1 : undefined) ?? choice.runs;
  const compared = useQuery(comparisonQuery(runs, [], false)).data;
  const fields = (compared && groupFields(compared)) ?? [];
  return (
    <>
      <Group gap="xs" align="start" grow preventGrowOverflow={false}>
        {select}
        <Axes kind={kind} choice={choice} names={compared ? metricNames(compared) : []} onChange={onChange} />
      </Group>
      {!selected && (
        <RunsField
          runs={runs}
          known={compared?.runs ?? []}
          single={kind.one_run}
          onChange={(next) => onChange({ ...choice, runs: next })}
        />
      )}
      {kind.streams && runs.length > 0 && (
        <CurveControls
          view={view}
          onChange={(next) => onChange({ ...choice, view: next })}
          axes={axesOf(compared?.runs ?? [])}
          forks={kind.parameters.includes("ancestry") && compared?.runs.some(({ parent }) => parent !== null)}
        />
      )}
      {!kind.streams && kind.parameters.includes("x_log") && (
        <Group gap="md">
          {(["xLog", "yLog"] as const).map((axis) => (
            <Switch
              key={axis}
              size="xs"
              label={axis === "xLog" ? "Log x" : "Log y"}
              checked={view[axis]}
              onChange={(event) =>
                onChange({ ...choice, view: { ...view, [axis]: event.currentTarget.checked } })
              }
            />
          ))}
        </Group>
      )}
      {isGroupable(kind) && runs.length > 1 && (
        <GroupControls fields={fields} view={view} onChange={(next) => onChange({ ...choice, view: next })} />
      )}
    </>
  );
}

interface AxesProps {
  kind: FigureKind;
  choice: ChartChoice;
  /** Metrics that the runs have reported. */
  names: readonly string[];
  onChange: (choice: ChartChoice) => void;
}

/** The metrics or numbers on the axes of a figure. */
function Axes({ kind, choice, names, onChange }: AxesProps) {
  const { metric, xMetric, xNumber, yNumber } = choice;
  if (showsNumbers(kind))
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
  const isPair = kind.parameters.includes("x_metric");
  return (
    <>
      {isPair && (
        <Metric
          label="Horizontal axis"
          metric={xMetric}
          names={names}
          onChange={(next) => onChange({ ...choice, xMetric: next })}
        />
      )}
      {(isPair || kind.parameters.includes("metric")) && (
        <Metric
          label={isPair ? "Vertical axis" : "Metric"}
          metric={metric}
          names={names}
          onChange={(next) => onChange({ ...choice, metric: next })}
        />
      )}
    </>
  );
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
