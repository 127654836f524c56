/** Theme colors, sizes and zoom of a figure. */

import type { Data, Layout, LayoutAxis } from "plotly.js";
import type { Zoom } from "./curveView";

export interface PlotlyFigure {
  data: Data[];
  layout: Partial<Layout>;
}

export type Scheme = "light" | "dark";

interface Palette {
  text: string;
  faint: string;
  grid: string;
  surface: string;
  hover: string;
}

const PALETTES: Record<Scheme, Palette> = {
  light: { text: "#33383f", faint: "#5c636c", grid: "#e6e8eb", surface: "#ffffff", hover: "#ffffff" },
  dark: { text: "#d7d9de", faint: "#9a9ea7", grid: "#2f333a", surface: "#191b20", hover: "#24272d" },
};

const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** Maximum number of legend rows. Further rows scroll. */
const MOST_LEGEND_ROWS = 4;
const LEGEND_ROW = 19;
/** Width of a legend entry: its line and padding, plus the width per letter. */
const LEGEND_LINE = 50;
const LEGEND_LETTER = 6.5;
/** Padding above and below the legend. With less, two rows would scroll. */
const LEGEND_PADDING = 10;
/** Beside the plot. */
const SIDES = { l: 56, r: 12 };
const TOP = 8;
/** Below the plot, for the axis and its title. */
const AXIS_ROOM = 40;

export interface FigureLook {
  scheme: Scheme;
  /** The zoom is kept while this value stays the same. */
  revision: string;
  legend: boolean;
  /** Show all names instead of scrolling a long legend. */
  wholeLegend?: boolean;
  /** Space above the plot in pixels. */
  top?: number;
  /** Width of the whole figure in pixels. */
  width: number;
  /** The shown range of x in data units. */
  zoom?: Zoom | null;
}

/** Return true if a log axis omits points of the figure. */
export function hasUndrawable({ data, layout }: PlotlyFigure): boolean {
  if (layout.yaxis?.type !== "log") return false;
  return data.some((trace) => "y" in trace && Array.isArray(trace.y) && trace.y.some(isNotAboveZero));
}

const isNotAboveZero = (value: unknown) => typeof value === "number" && value <= 0;

/** Return a copy of a figure in the theme's colors. */
export function themed(
  figure: PlotlyFigure,
  { scheme, revision, legend: wantsLegend, wholeLegend = false, top = TOP, width, zoom }: FigureLook,
): PlotlyFigure {
  const palette = PALETTES[scheme];
  const legend = wantsLegend && figure.layout.showlegend !== false;
  // The width is unknown before the figure is on the page.
  const data = legend && width > 0 ? withBrokenNames(figure.data, lettersInLine(width)) : figure.data;
  const legendHeight = legend ? legendRoom(data, width, wholeLegend ? Infinity : MOST_LEGEND_ROWS) : 0;
  // Plotly supports the option, but its types do not include it yet.
  const capped: { maxheight: number } & Partial<Layout["legend"]> = {
    ...figure.layout.legend,
    maxheight: legendHeight,
    orientation: "h",
    // Otherwise rows of grouped traces take more room than reserved, and the legend scrolls.
    tracegroupgap: 0,
    x: 0,
    y: 0,
    yref: "container",
    yanchor: "bottom",
    font: { color: palette.text },
  };
  const { template: _, title: __, width: ___, height: ____, ...layout } = figure.layout;
  return {
    data,
    layout: {
      ...layout,
      autosize: true,
      uirevision: revision,
      paper_bgcolor: palette.surface,
      plot_bgcolor: palette.surface,
      font: { ...layout.font, family: FONT, size: 12, color: palette.text },
      margin: { ...SIDES, t: layout.margin?.t ?? top, b: AXIS_ROOM + legendHeight },
      dragmode: "zoom",
      showlegend: legend,
      legend: capped,
      hoverlabel: {
        // The tooltip of one line has its whole name.
        ...(layout.hovermode === "closest" && { namelength: -1 }),
        bgcolor: palette.hover,
        bordercolor: palette.grid,
        font: { color: palette.text, family: FONT },
      },
      // Its own revision, so that it follows a zoom in another chart.
      xaxis: {
        ...axis(layout.xaxis, palette),
        uirevision: zoom ? zoom.join() : "all",
        ...(zoom && rangeOf(zoom, layout.xaxis?.type === "log")),
      },
      // The heading above the chart names the metric.
      yaxis: { ...axis(layout.yaxis, palette), title: { text: "" }, showspikes: false },
    },
  };
}

/** Line break of Plotly. */
const LINE_BREAK = "<br>";

/** Return the number of letters that fit in a full row of the legend. */
function lettersInLine(width: number): number {
  return Math.max(1, Math.floor((width - SIDES.l - SIDES.r - LEGEND_LINE) / LEGEND_LETTER));
}

/** Return the traces with wrapped names, because Plotly cuts lines wider than the plot. */
function withBrokenNames(data: Data[], letters: number): Data[] {
  const tooLong = (trace: Data) => String(trace.name ?? "").length > letters;
  if (!data.some(tooLong)) return data;
  return data.map((trace) =>
    tooLong(trace) ? { ...trace, name: inLines(String(trace.name), letters) } : trace,
  );
}

/** Wrap between words, or within a word that is longer than a line. */
function inLines(name: string, letters: number): string {
  const line = new RegExp(`\\S{${letters}}|\\S.{0,${letters - 1}}(?=\\s|$)`, "g");
  return (name.match(line) ?? [name]).join(LINE_BREAK);
}

const roomOfLines = (lines: number) => LEGEND_PADDING + LEGEND_ROW * lines;

/** Return a legend height that fits a few names with all their lines. */
function legendRoom(data: readonly Data[], width: number, maxRows: number): number {
  const inLegend = data.filter((trace) => !("showlegend" in trace) || trace.showlegend !== false);
  const names = inLegend.map((trace) => String(trace.name ?? "").split(LINE_BREAK));
  const letters = Math.max(0, ...names.flat().map((line) => line.length));
  const room = width - SIDES.l - SIDES.r;
  const inRow = Math.max(1, Math.floor(room / (LEGEND_LINE + LEGEND_LETTER * letters)));
  const lines =
    inRow > 1 ? Math.min(maxRows, Math.ceil(names.length / inRow)) : names.slice(0, maxRows).flat().length;
  return roomOfLines(Math.max(1, lines));
}

/** Return the extra height of wrapped names. The figure grows by it, so that the plot keeps its size. */
export function roomOfBrokenNames({ layout }: PlotlyFigure): number {
  return Math.max(0, Number(layout.margin?.b) - AXIS_ROOM - roomOfLines(MOST_LEGEND_ROWS));
}

function axis(written: Partial<LayoutAxis> | undefined, palette: Palette): Partial<LayoutAxis> {
  const title = typeof written?.title === "string" ? { text: written.title } : written?.title;
  return {
    ...written,
    automargin: true,
    color: palette.faint,
    gridcolor: palette.grid,
    linecolor: palette.grid,
    zerolinecolor: palette.grid,
    spikecolor: palette.faint,
    spikethickness: 1,
    spikedash: "solid",
    tickfont: { color: palette.faint, size: 11 },
    ...(title && { title: { ...title, font: { color: palette.faint, size: 12 } } }),
  };
}

/** A log axis uses exponents. */
function rangeOf(zoom: Zoom, log: boolean): Partial<LayoutAxis> {
  return { range: zoom.map((end) => (log ? Math.log10(end) : end)), autorange: false };
}

type Relayout = Readonly<Record<string, unknown>>;

/**
 * Return the range of x that a drag or double click selects, in data units: null for the whole range,
 * undefined if x did not change. Log axes report exponents, and date axes report text.
 */
export function zoomOf(change: Relayout, log: boolean): [number, number] | null | undefined {
  if (change["xaxis.autorange"] === true) return null;
  const range = change["xaxis.range"];
  const [from, to]: unknown[] = Array.isArray(range)
    ? range
    : [change["xaxis.range[0]"], change["xaxis.range[1]"]];
  if (from === undefined || to === undefined) return undefined;
  const bounds = [from, to].map((bound) =>
    typeof bound === "number" ? bound : Date.parse(String(bound)) / 1000,
  );
  const [low, high] = bounds.map((bound) => (log ? 10 ** bound : bound)).sort((a, b) => a - b);
  return low === undefined || high === undefined || Number.isNaN(low + high) ? undefined : [low, high];
}
