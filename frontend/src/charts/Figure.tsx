import type { ReactNode } from "react";
import { runsInFileName } from "@/api/runNumbers";
import { curvesQuery } from "./curvesQuery";
import { type CurveView, X_TITLES } from "./curveView";
import { FigureFrame } from "./FigureFrame";
import type { Chart } from "./metrics";
import { metricRows, ROW_HEADER } from "./points";
import type { PlotArea } from "./plotly";
import { useZoom } from "./useCurveView";

interface FigureProps {
  runs: readonly number[];
  chart: Chart;
  view: CurveView;
  height?: number;
  legend?: boolean;
  /** True to draw each run in the color that lists show. */
  ownColors?: boolean;
  /** Content above the plot. Receives the area of the x axis. */
  overlay?: (area: PlotArea) => ReactNode;
}

/** Curves of one or several related metrics. A zoom fetches finer data. */
export function Figure({
  runs,
  chart,
  view,
  height = 260,
  legend = chart.metrics.length > 1,
  ownColors = false,
  overlay,
}: FigureProps) {
  const { title, metrics } = chart;
  const [zoom, setZoom] = useZoom(view.xLog);
  const points = async () => {
    const perRun = await Promise.all(runs.map((run) => metricRows(run, metrics, view.x, zoom)));
    return { header: ROW_HEADER(view.x), rows: perRun.flat() };
  };
  return (
    <FigureFrame
      title={title}
      noun="curve"
      hint={metrics.join(", ")}
      label={`${title} by ${X_TITLES[view.x].toLowerCase()}, ${runs.length === 1 ? "one run" : `${runs.length} runs`}.`}
      query={curvesQuery(runs, chart, view, zoom, ownColors)}
      zoom={zoom}
      onZoom={setZoom}
      xLog={view.xLog}
      linkedAxis={view.x}
      revision={[view.x, view.xLog && "log x", view.yLog && "log y", view.clip && "clip"]
        .filter(Boolean)
        .join()}
      legend={legend}
      height={height}
      file={`${metrics.join("-").replaceAll("/", "-")}-${runsInFileName(runs)}`}
      points={points}
      overlay={overlay}
    />
  );
}
