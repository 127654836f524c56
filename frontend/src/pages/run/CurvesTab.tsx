import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconChartLine } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "react-router";
import { metricCatalogQuery, metricNamesQuery } from "@/api/metrics";
import type { Run } from "@/api/types";
import chartClasses from "@/charts/charts.module.css";
import { CurveControls } from "@/charts/CurveControls";
import { Figure } from "@/charts/Figure";
import { axesOf, type CurveView } from "@/charts/curveView";
import { type Chart, chartsOf, metricSections, RETURN } from "@/charts/metrics";
import { useCurveView } from "@/charts/useCurveView";
import { availabilityText } from "@/ui/states";
import { EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { SearchField } from "@/ui/SearchField";
import { isLearningMetric, isSystemMetric } from "./systemMetrics";
import { CurveMarks } from "./marks/CurveMarks";
import { MarkMenu } from "./marks/MarkMenu";
import classes from "./run.module.css";

/** Runs with more metrics have a search field. */
const MANY_METRICS = 24;
/** Charts of a section that are shown at first. Scripts may log thousands of metrics. */
const FIRST_CHARTS = 24;

/** Charts of all learning metrics. */
export function CurvesTab({ run }: { run: Run }) {
  return <CurveGrid run={run} includes={isLearningMetric(run)} />;
}

/** Charts of the system metrics: throughput, time per phase, CPU and memory. */
export function SystemTab({ run }: { run: Run }) {
  return <CurveGrid run={run} includes={isSystemMetric(run)} />;
}

function CurveGrid({ run, includes }: { run: Run; includes: (name: string) => boolean }) {
  const [view, setView] = useCurveView();
  const [search, setSearch] = useState("");
  const names = useQuery(metricNamesQuery(run.id));
  const { data: catalog = [], isPending } = useQuery(metricCatalogQuery);
  if (names.isError && !names.data) {
    return <QueryError error={names.error} retry={() => void names.refetch()} />;
  }
  if (!names.data || isPending) return <Text c="dimmed">Loading curves…</Text>;
  const included = names.data.filter(includes);
  const wanted = search.trim().toLowerCase();
  const found = included.filter((name) => name.toLowerCase().includes(wanted));
  const sections = metricSections(catalog, found);
  if (included.length > 0 && found.length === 0) {
    return (
      <Stack gap="lg">
        <MetricSearch count={included.length} text={search} onSearch={setSearch} />
        <EmptyState title="No matching metrics">
          No metric of this run has “{search.trim()}” in its name.
        </EmptyState>
      </Stack>
    );
  }
  if (sections.length === 0) {
    return (
      <EmptyState icon={IconChartLine} title="No curves yet">
        {availabilityText(
          run,
          "Curves appear here when the run reports its first metrics.",
          "This run ended before it reported any metrics.",
        )}
      </EmptyState>
    );
  }
  return (
    <Stack gap="lg">
      {included.length > MANY_METRICS && (
        <MetricSearch count={included.length} text={search} onSearch={setSearch} />
      )}
      <Group gap="md">
        <CurveControls view={view} onChange={setView} axes={axesOf([run])} forks={run.parent !== null} />
        <MarkMenu />
      </Group>
      <Text size="xs" c="dimmed" visibleFrom="sm">
        Drag across a chart to zoom all charts. Double-click to zoom out.
      </Text>
      {sections.map((section) => (
        <section key={section.prefix} aria-label={section.title}>
          <Title order={2} mb="xs">
            {section.title}
          </Title>
          <SectionCharts run={run} view={view} charts={chartsOf(catalog, section.names)} />
        </section>
      ))}
    </Stack>
  );
}

interface MetricSearchProps {
  count: number;
  text: string;
  onSearch: (text: string) => void;
}

function MetricSearch({ count, text, onSearch }: MetricSearchProps) {
  return (
    <SearchField
      label="Search metrics"
      placeholder={`Search ${plural(count, "metric")}`}
      className={classes.metricSearch}
      maxLength={200}
      text={text}
      onSearch={onSearch}
    />
  );
}

/** Scroll to a chart after the router has scrolled the new page to its top. */
function scrollIntoView(chart: HTMLElement | null) {
  if (chart) requestAnimationFrame(() => chart.scrollIntoView({ block: "center" }));
}

interface SectionChartsProps {
  run: Run;
  view: CurveView;
  charts: readonly Chart[];
}

function SectionCharts({ run, view, charts }: SectionChartsProps) {
  // Links of findings name the metric to scroll to.
  const linkedMetric = useLocation().hash.slice(1);
  const [limit, setLimit] = useState(FIRST_CHARTS);
  const hidden = charts.length - limit;
  return (
    <>
      <div className={chartClasses.grid}>
        {charts.slice(0, limit).map((chart) => (
          <div
            key={chart.metrics.join()}
            ref={chart.metrics.includes(linkedMetric) ? scrollIntoView : undefined}
            className={classes.card}
          >
            <Figure
              runs={[run.id]}
              chart={chart}
              view={view}
              overlay={(area) => (
                <CurveMarks
                  run={run}
                  metrics={chart.metrics}
                  isMain={chart.metrics.includes(RETURN)}
                  axis={view.x}
                  area={area}
                />
              )}
            />
          </div>
        ))}
      </div>
      {hidden > 0 && (
        <Button variant="subtle" size="xs" mt="xs" onClick={() => setLimit(limit + FIRST_CHARTS)}>
          Show {Math.min(hidden, FIRST_CHARTS)} more of {plural(hidden, "chart")}
        </Button>
      )}
    </>
  );
}
