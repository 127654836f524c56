import { Button, Group, MultiSelect, Stack, Switch } from "@mantine/core";
import { IconAdjustments } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { comparedMarksQuery, type GroupField } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import { CurveControls } from "@/charts/CurveControls";
import { axesOf, type XAxis } from "@/charts/curveView";
import { Figure } from "@/charts/Figure";
import { GroupControls } from "@/charts/GroupControls";
import { MarkStrip } from "@/charts/marks/MarkStrip";
import { chartOf, metricSections, metricTitle } from "@/charts/metrics";
import type { PlotArea } from "@/charts/plotly";
import { useCurveView } from "@/charts/useCurveView";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import chartClasses from "@/charts/charts.module.css";
import classes from "./compare.module.css";

interface CompareCurvesProps {
  runs: readonly number[];
  metrics: readonly string[];
  /** Metrics of any of the runs. */
  names: readonly string[];
  onMetrics: (metrics: string[]) => void;
  /** The compared runs, or none while they load. */
  known: readonly ComparedRun[];
  /** Grouping options, or null if grouping makes no difference. */
  groups: readonly GroupField[] | null;
}

/** Curves of the runs, one chart per metric. */
export function CompareCurves({ runs, metrics, names, onMetrics, known, groups }: CompareCurvesProps) {
  const catalog = useMetricCatalog();
  const [view, setView] = useCurveView();
  const [showsControls, setShowsControls] = useState(false);
  const controls = useId();
  const choices = metricSections(catalog, [...new Set([...names, ...metrics])]).map(
    ({ title, names: members }) => ({
      group: title,
      items: members.map((name) => ({ value: name, label: metricTitle(catalog, name) })),
    }),
  );
  return (
    <Stack gap="sm" component="section" aria-label="Curves">
      <Button
        variant="default"
        size="xs"
        w="fit-content"
        hiddenFrom="sm"
        leftSection={<IconAdjustments size={16} aria-hidden />}
        aria-expanded={showsControls}
        aria-controls={controls}
        onClick={() => setShowsControls(!showsControls)}
      >
        Chart settings
      </Button>
      <Group
        id={controls}
        gap="md"
        align="center"
        className={classes.controls}
        data-open={showsControls || undefined}
      >
        <MultiSelect
          aria-label="Metrics shown"
          data={choices}
          value={[...metrics]}
          onChange={onMetrics}
          searchable
          hidePickedOptions
          className={classes.metrics}
          maxDropdownHeight={320}
        />
        <CurveControls
          view={view}
          onChange={setView}
          axes={axesOf(known)}
          forks={known.some(({ parent }) => parent !== null)}
        />
        <Switch
          size="xs"
          label="Marks"
          title="Mark forks, resumed attempts and changed settings of the runs"
          checked={view.marks}
          onChange={(event) => setView({ ...view, marks: event.currentTarget.checked })}
        />
        {groups && <GroupControls fields={groups} view={view} onChange={setView} />}
      </Group>
      <div className={metrics.length > 1 ? chartClasses.grid : undefined}>
        {metrics.map((metric) => (
          <div key={metric} className={classes.card}>
            <Figure
              runs={runs}
              chart={chartOf(catalog, metric)}
              view={view}
              legend
              height={metrics.length > 1 ? 300 : 420}
              overlay={
                view.marks
                  ? (area) => <CompareMarks runs={runs} known={known} axis={view.x} area={area} />
                  : undefined
              }
            />
          </div>
        ))}
      </div>
    </Stack>
  );
}

interface CompareMarksProps {
  runs: readonly number[];
  known: readonly ComparedRun[];
  axis: XAxis;
  area: PlotArea;
}

/** Marks of forks, resumed attempts and changed settings, each with the name of its run. */
export function CompareMarks({ runs, known, axis, area }: CompareMarksProps) {
  const { data = [] } = useQuery(comparedMarksQuery(runs));
  const marks = data.flatMap(({ run_id, marks }) => {
    const name = known.find(({ id }) => id === run_id)?.label ?? `Run ${run_id}`;
    return marks.map((mark) => ({
      ...mark,
      detail: [name, mark.detail].filter(Boolean).join(": "),
      run_id: mark.run_id ?? run_id,
    }));
  });
  return <MarkStrip label="Marks of the runs" marks={marks} axis={axis} area={area} />;
}
