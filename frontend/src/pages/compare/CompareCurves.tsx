import { Group, MultiSelect, Stack } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { metricNamesQuery } from "@/api/queries";
import chartClasses from "@/charts/charts.module.css";
import { CurveControls } from "@/charts/CurveControls";
import { Figure } from "@/charts/Figure";
import { chartOf, metricSections, metricTitle } from "@/charts/metrics";
import { useCurveView } from "@/charts/useCurveView";
import classes from "./compare.module.css";

interface CompareCurvesProps {
  runs: readonly number[];
  metrics: readonly string[];
  onMetrics: (metrics: string[]) => void;
}

/** The runs' curves in one picture a metric. */
export function CompareCurves({ runs, metrics, onMetrics }: CompareCurvesProps) {
  const [view, setView] = useCurveView();
  const names = useQueries({
    queries: runs.map((id) => metricNamesQuery(id)),
    combine: (answers) => [...new Set(answers.flatMap((answer) => answer.data ?? []))],
  });
  const choices = metricSections([...new Set([...names, ...metrics])]).map(({ title, names: members }) => ({
    group: title,
    items: members.map((name) => ({ value: name, label: metricTitle(name) })),
  }));
  return (
    <Stack gap="sm" component="section" aria-label="Curves">
      <Group gap="md" align="center">
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
        <CurveControls view={view} onChange={setView} />
      </Group>
      <div className={metrics.length > 1 ? chartClasses.grid : undefined}>
        {metrics.map((metric) => (
          <div key={metric} className={classes.card}>
            <Figure
              runs={runs}
              chart={chartOf(metric)}
              view={view}
              legend
              height={metrics.length > 1 ? 300 : 420}
            />
          </div>
        ))}
      </div>
    </Stack>
  );
}
