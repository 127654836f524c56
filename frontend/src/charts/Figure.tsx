import { Button, useComputedColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { PlotlyHTMLElement } from "plotly.js";
import { useMemo, useRef, useState } from "react";
import { figureQuery } from "@/api/queries";
import classes from "./charts.module.css";
import { type CurveView, figureRequest, X_TITLES } from "./curveView";
import { FigureMenu } from "./FigureMenu";
import { FigureWords } from "./FigureWords";
import { themed } from "./figureTheme";
import type { Chart } from "./metrics";
import { Plot } from "./Plot";
import { loadPlotly, type PlotlyLibrary } from "./plotly";
import { useVisible } from "./useVisible";
import { useZoom } from "./useZoom";

const BUCKETS = 400;

interface FigureProps {
  runs: readonly number[];
  chart: Chart;
  view: CurveView;
  height?: number;
  legend?: boolean;
}

/**
 * The curves of a metric, or of some that belong together. Python builds the figure; here it is fetched while it can be seen, drawn in the theme's colours,
 * and fetched again at finer resolution when the reader drags a range.
 */
export function Figure({ runs, chart, view, height = 260, legend = chart.metrics.length > 1 }: FigureProps) {
  const frame = useRef<HTMLElement>(null);
  const [element, setElement] = useState<PlotlyHTMLElement | null>(null);
  const axis = `${view.x}${view.xLog ? " log" : ""}`;
  const [zoom, setZoom] = useZoom(chart.metrics[0] ?? "", view.xLog);
  const visible = useVisible(frame);
  const scheme = useComputedColorScheme("light");

  const library = useQuery({
    queryKey: ["plotly"],
    queryFn: loadPlotly,
    enabled: visible,
    staleTime: Infinity,
    gcTime: Infinity,
    structuralSharing: false,
  });
  const { title: heading, metrics, shares = false, counts = false } = chart;
  const look = figureRequest(counts ? { ...view, smoothing: 0 } : view, zoom, BUCKETS);
  const options = figureQuery(runs, metrics, shares, look);
  const curves = useQuery({ ...options, enabled: visible && runs.length > 0 });

  const figure = useMemo(
    () => curves.data && themed(curves.data, { scheme, revision: axis, legend, zoom }),
    [curves.data, scheme, axis, legend, zoom],
  );
  const empty = curves.data?.data.length === 0 && zoom === null;
  const drawable = library.data && figure && !empty;

  return (
    <figure ref={frame} className={classes.frame} style={{ margin: 0 }}>
      <figcaption className={classes.head}>
        <span className={classes.title} title={metrics.join(", ")}>
          {heading}
        </span>
        <span className={classes.state} role="status">
          {stateWords(curves.isPlaceholderData, curves.isError && Boolean(curves.data))}
        </span>
        {zoom && element && library.data && (
          <Button size="compact-xs" variant="subtle" onClick={() => resetZoom(library.data, element)}>
            Show all
          </Button>
        )}
        <FigureMenu
          runs={runs}
          metrics={metrics}
          title={heading}
          x={view.x}
          zoom={zoom}
          drawn={element}
          library={library.data}
        />
      </figcaption>
      <div className={classes.canvas} style={{ height }}>
        {drawable && (
          <Plot
            library={library.data}
            figure={figure}
            label={`${heading} by ${X_TITLES[view.x].toLowerCase()}, ${runs.length === 1 ? "one run" : `${runs.length} runs`}.`}
            xLog={view.xLog}
            onZoom={setZoom}
            onDrawn={setElement}
          />
        )}
        {!drawable && (
          <FigureWords
            problem={curves.error ?? library.error}
            empty={empty}
            retry={() => void retry(curves, library)}
          />
        )}
      </div>
    </figure>
  );
}

function stateWords(loading: boolean, failed: boolean): string {
  if (failed) return "Not up to date: the server does not answer";
  return loading ? "Still loading…" : "";
}

function resetZoom(library: PlotlyLibrary, element: PlotlyHTMLElement): void {
  void library.relayout(element, { "xaxis.autorange": true, "yaxis.autorange": true });
}

async function retry(...queries: { isError: boolean; refetch: () => Promise<unknown> }[]): Promise<void> {
  await Promise.all(queries.filter((query) => query.isError).map((query) => query.refetch()));
}
