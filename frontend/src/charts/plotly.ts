/** Plotly, loaded when the first chart becomes visible, and the charts that it has drawn. */

import type * as Plotly from "plotly.js";
import type { PlotlyHTMLElement } from "plotly.js";
import type { Figure } from "@/api/types";
import { importWithRetries } from "@/ui/loadCode";
import classes from "./charts.module.css";

export type PlotlyLibrary = typeof Plotly;

const BUNDLES = {
  /** Draws lines and bars. */
  basic: () => import("plotly.js-basic-dist-min"),
  /** Also draws heat maps and other kinds of traces with two axes. It is a quarter larger. */
  cartesian: () => import("plotly.js-cartesian-dist-min"),
};
export type Bundle = keyof typeof BUNDLES;

const BASIC_TRACES = ["scatter", "bar", "pie"];
const loading = new Map<Bundle, Promise<PlotlyLibrary>>();

/** Return the smallest bundle that draws a figure. */
export function bundleFor({ data }: Pick<Figure, "data">): Bundle {
  return data.every(({ type = "scatter" }) => BASIC_TRACES.includes(String(type))) ? "basic" : "cartesian";
}

export function loadPlotly(bundle: Bundle = "basic"): Promise<PlotlyLibrary> {
  const library =
    loading.get(bundle) ??
    importWithRetries<{ default: PlotlyLibrary }>(BUNDLES[bundle])
      .then((module) => module.default)
      .catch((error: unknown) => {
        loading.delete(bundle); // the next chart tries again
        throw error;
      });
  loading.set(bundle, library);
  return library;
}

/** Position and range of the x axis of a drawn chart. */
export interface PlotArea {
  /** In pixels from the left of the chart. */
  left: number;
  width: number;
  /** Range of the axis. Exponents on a log axis. */
  from: number;
  to: number;
  log: boolean;
}

/** Internal data of Plotly, which has no types. */
interface DrawnAxis {
  _offset: number;
  _length: number;
  range: [number, number];
  type: string;
}

/** Return the area of a drawn chart, or null before it has axes. */
export function plotAreaOf(element: PlotlyHTMLElement): PlotArea | null {
  const axis = (element as { _fullLayout?: { xaxis?: DrawnAxis } })._fullLayout?.xaxis;
  if (!axis) return null;
  const [from, to] = axis.range;
  return { left: axis._offset, width: axis._length, from, to, log: axis.type === "log" };
}

/** The axis ends at the last point, but marks at the end of a run are slightly later. */
const TOLERANCE = 0.02;

/** Return the distance of a value from the left of the chart in pixels, or null outside of the axis. */
export function placeIn({ left, width, from, to, log }: PlotArea, x: number): number | null {
  const share = ((log ? Math.log10(x) : x) - from) / (to - from);
  return Math.abs(share - 0.5) <= 0.5 + TOLERANCE ? left + width * Math.min(Math.max(share, 0), 1) : null;
}

/** Functions that Plotly exports without types. */
interface Hovering {
  Fx: {
    hover: (element: PlotlyHTMLElement, at: { xval: unknown }, subplot: string, silent: boolean) => void;
    unhover: (element: PlotlyHTMLElement) => void;
  };
}

interface HoverEvent {
  xvals: readonly unknown[];
  points: readonly { data?: object }[];
}

interface LinkedChart {
  axis: string;
  show: (x: unknown) => void;
  hide: () => void;
}

/** Charts that share the hovered position with those of the same x axis. */
const linkedCharts = new Set<LinkedChart>();
let waiting = 0;

/** Share the hovered position with charts of the same axis. Return a function that ends this. */
export function linkHover(library: PlotlyLibrary, element: PlotlyHTMLElement, axis: string): () => void {
  const { Fx } = library as unknown as Hovering;
  const showsOneLine = () => element.layout.hovermode === "closest";
  const chart: LinkedChart = {
    axis,
    show: (x) => {
      if (isOnScreen(element) && !showsOneLine()) Fx.hover(element, { xval: x }, "xy", true);
    },
    hide: () => Fx.unhover(element),
  };
  const others = () => [...linkedCharts].filter((other) => other !== chart && other.axis === axis);
  const onHover = ({ xvals: [x], points: [point] }: HoverEvent) => {
    // The server names the run of each trace.
    const { meta } = (point?.data ?? {}) as { meta?: { run_id?: number } };
    const run = meta?.run_id;
    if (showsOneLine() && run !== undefined) highlightLater(run);
    onNextFrame(() => others().forEach((other) => other.show(x)));
  };
  const onUnhover = () => {
    if (showsOneLine()) highlightLater(null);
    onNextFrame(() => others().forEach((other) => other.hide()));
  };
  element.on("plotly_hover", onHover);
  element.on("plotly_unhover", onUnhover);
  linkedCharts.add(chart);
  return () => {
    linkedCharts.delete(chart);
    element.removeAllListeners("plotly_hover");
    element.removeAllListeners("plotly_unhover");
  };
}

/** Run the latest callback before the next frame. */
function onNextFrame(callback: () => void): void {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(callback);
}

function isOnScreen(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}

/** Charts in which the curves of one run can stand out. */
const charts = new Set<Element>();
let highlighted: number | null = null;

/** Painting many faded curves takes longer than a frame, so that the tooltip would not follow the pointer. */
const HIGHLIGHT_DELAY_MS = 120;
let highlighting: ReturnType<typeof setTimeout> | undefined;

/** Highlight a run once the pointer rests. */
function highlightLater(run: number | null): void {
  clearTimeout(highlighting);
  highlighting = setTimeout(() => highlightRun(run), HIGHLIGHT_DELAY_MS);
}

/** Fade the curves of all other runs, or of none. A chart without the run does not change. */
export function highlightRun(run: number | null): void {
  if (run === highlighted) return;
  highlighted = run;
  charts.forEach(showHighlight);
}

/** Show highlights in a drawn chart. Return a function that stops this. */
export function followHighlight(chart: Element): () => void {
  charts.add(chart);
  return () => charts.delete(chart);
}

/** Show the highlight again after the chart was drawn. Changing classes is cheap, and draws nothing. */
export function showHighlight(chart: Element): void {
  const traces = [...chart.querySelectorAll(".scatterlayer .trace")];
  // Plotly writes the uid of a trace, which starts with the run's number, into its class.
  const isOwn = (trace: Element) => trace.getAttribute("class")?.includes(`trace${highlighted}-`) ?? false;
  const fades = highlighted !== null && traces.some(isOwn);
  for (const trace of traces) trace.classList.toggle(classes.faded ?? "", fades && !isOwn(trace));
}
