import { ActionIcon, MultiSelect, Popover, Select, Text, Tooltip } from "@mantine/core";
import { IconAdjustmentsHorizontal, IconX } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { allMetricNamesQuery } from "@/api/metrics";
import { namedRunsQuery, RUN_PAGE_SIZE, runGroupsQuery } from "@/api/runs";
import type { ListedRun } from "@/api/types";
import { CurveControls } from "@/charts/CurveControls";
import { Figure } from "@/charts/Figure";
import { chartOf, metricSections, metricTitle } from "@/charts/metrics";
import { useCurveView } from "@/charts/useCurveView";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { plural, shortEnv } from "@/ui/format";
import classes from "./ChartPanel.module.css";
import {
  ALL_IN_ONE,
  chartsByEnvironment,
  curvesText,
  drawnFields,
  drawnGroups,
  groupCurvesText,
  MAX_ENVIRONMENTS,
} from "./curveRuns";
import type { Charts } from "./useCharts";
import { type RunsView, toFailuresQuery } from "./view";

export interface ChartPanelProps {
  charts: Charts;
  view: RunsView;
  project: string | null;
  /** Number of runs that the filters select. */
  total: number;
}

/** Charts in one panel. */
const MAX_CHARTS = 6;
const CHART_HEIGHT = 260;
/** With the legend of groups. */
const GROUP_CHART_HEIGHT = 360;

/** Charts of the runs, or of their groups. */
export function PanelCharts(props: ChartPanelProps) {
  return props.view.by.length > 0 ? <GroupCharts {...props} /> : <RunCharts {...props} />;
}

function RunCharts({ charts, total }: ChartPanelProps) {
  const { drawn } = charts;
  const text =
    drawn.length === 0 ? "All curves are hidden. Show a run with its dot." : curvesText(drawn, total);
  return <MetricCharts charts={charts} runs={drawn} by={null} text={text} />;
}

function GroupCharts({ charts, view, project }: ChartPanelProps) {
  const { data, isError } = useQuery(
    runGroupsQuery({ ...toFailuresQuery(view, project), by: view.by.join(), sort: view.groupSort }),
  );
  const waiting = isError ? "There are no groups to draw." : "Loading groups…";
  const groups = drawnGroups(data?.items ?? []);
  const runs = [...new Set(groups.flatMap((group) => group.run_ids))].sort((a, b) => a - b);
  return (
    <MetricCharts
      charts={charts}
      runs={runs}
      by={drawnFields(view.by)}
      text={data ? groupCurvesText(groups, data.total, view.by) : waiting}
    />
  );
}

interface MetricChartsProps {
  charts: Charts;
  runs: readonly number[];
  /** Settings that the curves are grouped by, or null without groups. */
  by: readonly string[] | null;
  /** Which runs have curves. */
  text: string;
}

function MetricCharts({ charts, runs, by, text }: MetricChartsProps) {
  const catalog = useMetricCatalog();
  const [view, setView] = useCurveView();
  const { data: names = [] } = useQuery(allMetricNamesQuery);
  const environments = useEnvironments(runs, charts.known);
  const parts = chartsByEnvironment(runs, environments, charts.env);
  const shown = parts.slice(0, MAX_ENVIRONMENTS);
  const envs = [...new Set(runs.map((id) => environments.get(id) ?? ""))].sort();
  const isMixed = envs.length > 1;
  const choices = metricSections(catalog, [...new Set([...names, ...charts.metrics])]);
  return (
    <>
      <div className={classes.head}>
        <MultiSelect
          className={classes.metrics}
          // The names of the metrics become longer when their titles arrive.
          style={{ visibility: catalog.length > 0 ? undefined : "hidden" }}
          aria-label="Metrics of the charts"
          size="xs"
          data={choices.map(({ title, names: members }) => ({
            group: title,
            items: members.map((name) => ({ value: name, label: metricTitle(catalog, name) })),
          }))}
          value={charts.metrics}
          onChange={(metrics) => metrics.length > 0 && charts.chooseMetrics(metrics)}
          maxValues={MAX_CHARTS}
          searchable
          hidePickedOptions
        />
        <Popover position="bottom-end" shadow="md" width={320} trapFocus>
          <Popover.Target>
            <Tooltip label="Curve settings">
              <ActionIcon size={32} aria-label="Curve settings">
                <IconAdjustmentsHorizontal size={18} stroke={1.75} />
              </ActionIcon>
            </Tooltip>
          </Popover.Target>
          <Popover.Dropdown>
            <CurveControls view={view} onChange={setView} forks />
          </Popover.Dropdown>
        </Popover>
        <Tooltip label="Close charts">
          <ActionIcon size={32} aria-label="Close charts" onClick={() => charts.setOpen(false)}>
            <IconX size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </div>
      <Text size="xs" c="dimmed">
        {text}
      </Text>
      {isMixed && (
        <Select
          aria-label="Environments of the charts"
          size="xs"
          data={[
            { value: EACH, label: `${plural(envs.length, "environment")}, one chart each` },
            ...envs.map((env) => ({ value: env, label: `Only ${shortEnv(env) || "runs without one"}` })),
            { value: ALL_IN_ONE, label: "All environments in one chart" },
          ]}
          value={envs.includes(charts.env) || charts.env === ALL_IN_ONE ? charts.env : EACH}
          allowDeselect={false}
          onChange={(env) => charts.chooseEnv(env === EACH || env === null ? "" : env)}
        />
      )}
      {runs.length > 0 &&
        charts.metrics.flatMap((metric) =>
          shown.map(({ env, runs: members }) => {
            const chart = chartOf(catalog, metric);
            return (
              <Figure
                key={`${metric} ${env}`}
                runs={members}
                chart={
                  env === null
                    ? chart
                    : { ...chart, title: `${chart.title} · ${shortEnv(env) || "no environment"}` }
                }
                view={{ ...view, grouped: by !== null, by: by ?? [] }}
                height={by === null ? CHART_HEIGHT : GROUP_CHART_HEIGHT}
                legend={by !== null}
                ownColors={by === null}
              />
            );
          }),
        )}
      {parts.length > shown.length && (
        <Text size="xs" c="dimmed">
          Charts of the {shown.length} environments with the most runs. Choose another one above.
        </Text>
      )}
    </>
  );
}

/** Value of the choice of a chart for each environment. */
const EACH = "each";

/** Return the environment of each run. It is fetched for runs that are not listed. */
function useEnvironments(ids: readonly number[], known: readonly ListedRun[]): ReadonlyMap<number, string> {
  const listed = new Map(known.map(({ id, env }) => [id, env ?? ""]));
  const others = ids.filter((id) => !listed.has(id)).slice(0, RUN_PAGE_SIZE);
  const { data } = useQuery({
    ...namedRunsQuery(others),
    enabled: others.length > 0,
    placeholderData: keepPreviousData,
  });
  for (const { id, env } of data?.items ?? []) listed.set(id, env ?? "");
  return listed;
}
