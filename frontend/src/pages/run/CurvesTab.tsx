import { Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { metricCatalogQuery, metricNamesQuery } from "@/api/metrics";
import type { Run } from "@/api/types";
import chartClasses from "@/charts/charts.module.css";
import { CurveControls } from "@/charts/CurveControls";
import { Figure } from "@/charts/Figure";
import { chartsOf, metricSections } from "@/charts/metrics";
import { useCurveView } from "@/charts/useCurveView";
import { availabilityText } from "@/ui/states";
import { EmptyState } from "@/ui/EmptyState";
import { QueryError } from "@/ui/QueryError";
import { isSystemMetric } from "./systemMetrics";
import classes from "./run.module.css";

/** Charts of all learning metrics. */
export function CurvesTab({ run }: { run: Run }) {
  return <CurveGrid run={run} includes={(name) => !/^(system|time)\//.test(name)} />;
}

/** Charts of the system metrics: throughput, time per phase, CPU and memory. */
export function SystemTab({ run }: { run: Run }) {
  return <CurveGrid run={run} includes={isSystemMetric} />;
}

function CurveGrid({ run, includes }: { run: Run; includes: (name: string) => boolean }) {
  const [view, setView] = useCurveView();
  const names = useQuery(metricNamesQuery(run.id));
  const { data: catalog = [], isPending } = useQuery(metricCatalogQuery);
  if (names.isError && !names.data) {
    return <QueryError error={names.error} retry={() => void names.refetch()} />;
  }
  if (!names.data || isPending) return <Text c="dimmed">Loading curves…</Text>;
  const sections = metricSections(catalog, names.data.filter(includes));
  if (sections.length === 0) {
    return (
      <EmptyState title="No curves yet">
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
      <CurveControls view={view} onChange={setView} forks={run.parent !== null} />
      <Text size="xs" c="dimmed" visibleFrom="sm">
        Drag across a chart to zoom in; double-click to zoom out.
      </Text>
      {sections.map((section) => (
        <section key={section.prefix} aria-label={section.title}>
          <Title order={2} mb="xs">
            {section.title}
          </Title>
          <div className={chartClasses.grid}>
            {chartsOf(catalog, section.names).map((chart) => (
              <div key={chart.metrics.join()} className={classes.card}>
                <Figure runs={[run.id]} chart={chart} view={view} />
              </div>
            ))}
          </div>
        </section>
      ))}
    </Stack>
  );
}
