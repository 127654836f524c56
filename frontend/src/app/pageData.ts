/** Data of the first page, requested while its code is loaded. */

import type { QueryClient } from "@tanstack/react-query";
import { comparisonQuery } from "@/api/comparisons";
import { environmentsQuery } from "@/api/configuration";
import { figureKindsQuery } from "@/api/figures";
import { metricCatalogQuery } from "@/api/metrics";
import { runPageQuery, runQuery, runSettingsQuery } from "@/api/runs";
import { sessionQuery } from "@/api/session";
import { workersQuery } from "@/api/workers";
import { curvesQuery } from "@/charts/curvesQuery";
import { readView, readZoom } from "@/charts/curveView";
import { chartOf } from "@/charts/metrics";
import { loadPlotly } from "@/charts/plotly";
import { readMetrics, readRuns } from "@/pages/compare/comparison";
import { NO_VALUES, parseView, toFailuresQuery, toListQuery } from "@/pages/runs/view";
import { projectOfRunList } from "@/ui/currentProject";

const RUN = /^\/runs\/([1-9]\d*)(\/overview|\/curves)?\/?$/;

/** Request what the page at an address needs first. The page itself shows errors. */
export function prefetchPage(
  client: QueryClient,
  { pathname, search }: Pick<Location, "pathname" | "search">,
) {
  void client.prefetchQuery(sessionQuery);
  // Titles and zooms of charts depend on it.
  void client.prefetchQuery(figureKindsQuery);
  const run = RUN.exec(pathname)?.[1];
  if (run !== undefined) {
    void client.prefetchQuery(runQuery(Number(run)));
    void client.prefetchQuery(environmentsQuery);
  }
  if (pathname === "/") prefetchRunList(client, new URLSearchParams(search));
  const isComparison = pathname === "/compare";
  if (isComparison) prefetchComparison(client, new URLSearchParams(search));
  if (run !== undefined || isComparison) {
    void client.prefetchQuery(metricCatalogQuery);
    loadPlotly().catch(() => undefined);
  }
}

function prefetchRunList(client: QueryClient, search: URLSearchParams) {
  const view = parseView(search);
  const project = projectOfRunList(search);
  // The list waits for the notices.
  void client.prefetchQuery(workersQuery);
  if (view.by.length > 0) return;
  void client.prefetchQuery(runPageQuery(toListQuery(view, project, NO_VALUES), 0));
  // The columns of settings depend on it.
  void client.prefetchQuery(runSettingsQuery(toFailuresQuery(view, project)));
}

function prefetchComparison(client: QueryClient, search: URLSearchParams) {
  const runs = readRuns(search);
  if (runs.length === 0) return;
  const view = readView(search);
  void client.prefetchQuery(comparisonQuery(runs, view.by, view.grouped || view.by.length > 0));
  for (const metric of readMetrics(search).slice(0, 1))
    void client.prefetchQuery(curvesQuery(runs, chartOf([], metric), view, readZoom(search, view.xLog)));
}
