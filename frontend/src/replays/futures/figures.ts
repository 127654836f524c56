/** Figures of futures: returns, scores over time and lost lives. */

import type { Figure, FuturesDocument } from "@/api/types";
import { plural, score } from "@/ui/format";
import { domainOf, ticksOf } from "../scale";

// Colors that color-blind people can distinguish (Okabe and Ito 2008), readable on light and dark surfaces.
const ENDED = "#0072b2";
const BOOTSTRAPPED = "#56b4e9";
const VALUE = "#d55e00";
const MEAN = "#009e73";
const OTHER = "#cc79a7";
const OUTER_BAND = "rgba(86, 180, 233, 0.3)";
const INNER_BAND = "rgba(86, 180, 233, 0.5)";

const BARS = 20;
/** Width of a bar as a fraction of its bin. */
const BAR_WIDTH = 0.92;

export interface Bins {
  /** Center of each bin. */
  centers: number[];
  width: number;
  countOf: (values: readonly number[]) => number[];
}

/** Return about 20 bins with round borders that cover all values. */
export function binsOf(values: readonly number[]): Bins {
  const domain = domainOf(values);
  const [first = 0, second = 1] = ticksOf(domain, BARS);
  const width = Number((second - first).toPrecision(12));
  const start = Math.floor(domain[0] / width + 1e-9);
  const bins = Math.floor(domain[1] / width + 1e-9) - start + 1;
  const indexOf = (value: number) => Math.floor(value / width + 1e-9) - start;
  return {
    width,
    centers: Array.from({ length: bins }, (_, bin) => Number(((start + bin + 0.5) * width).toPrecision(12))),
    countOf: (some) => {
      const indexes = some.filter(Number.isFinite).map(indexOf);
      return Array.from({ length: bins }, (_, bin) => indexes.filter((index) => index === bin).length);
    },
  };
}

/** Other futures of the same decision to compare with. */
export interface Other {
  name: string;
  of: FuturesDocument;
}

/** Return the histogram of discounted returns, with the value estimate and the mean. */
export function drawReturns(
  { futures, value, mean, interval }: FuturesDocument,
  other: Other | null = null,
): Figure {
  const ended = futures.filter(({ bootstrap }) => bootstrap === null);
  const bootstrapped = futures.filter(({ bootstrap }) => bootstrap !== null);
  const returnsOf = (some: typeof futures) => some.map(({ discounted_return }) => Number(discounted_return));
  const others = other ? returnsOf(other.of.futures) : [];
  const bins = binsOf([...returnsOf(futures), ...others]);
  const bars = (name: string, some: typeof futures, color: string) => ({
    type: "bar",
    name: `${name}: ${some.length}`,
    x: bins.centers,
    y: bins.countOf(returnsOf(some)),
    width: bins.width * BAR_WIDTH,
    marker: { color, line: { color: ENDED, width: 1 } },
    hovertemplate: `%{y} futures near %{x}<extra>${name}</extra>`,
  });
  const top = Math.max(1, ...bins.countOf(returnsOf(futures)), ...bins.countOf(others));
  const mark = (name: string, at: number, color: string, dash: string) => ({
    type: "scatter",
    mode: "lines",
    name,
    x: [at, at],
    y: [0, top],
    line: { color, dash, width: 3 },
    hovertemplate: `${name} %{x}<extra></extra>`,
  });
  return {
    data: [
      ...(ended.length > 0 ? [bars("Ended", ended, ENDED)] : []),
      ...(bootstrapped.length > 0 ? [bars("Bootstrapped", bootstrapped, BOOTSTRAPPED)] : []),
      ...(other
        ? [
            {
              type: "scatter",
              mode: "lines",
              name: other.name,
              x: bins.centers,
              y: bins.countOf(others),
              line: { color: OTHER, width: 2, shape: "hvh" },
              hovertemplate: `%{y} futures near %{x}<extra>${other.name}</extra>`,
            },
          ]
        : []),
      ...(Number.isFinite(value) ? [mark("V", value, VALUE, "solid")] : []),
      ...(mean !== null && Number.isFinite(mean) ? [mark("Mean", mean, MEAN, "dash")] : []),
    ],
    layout: {
      barmode: "stack",
      xaxis: { title: { text: "discounted return" } },
      yaxis: { rangemode: "tozero", ...(top <= 10 && { dtick: 1 }) },
      shapes: interval?.every(Number.isFinite)
        ? [
            {
              type: "rect",
              xref: "x",
              yref: "paper",
              x0: interval[0],
              x1: interval[1],
              y0: 0,
              y1: 1,
              fillcolor: MEAN,
              opacity: 0.15,
              line: { width: 0 },
              layer: "below",
            },
          ]
        : [],
    },
  };
}

const DECISIONS_AXIS = { title: { text: "decisions from here" }, rangemode: "tozero" };

/** Return the quantiles of the score after each decision as bands around the median. */
export function drawScores(fan: readonly (readonly number[])[], other: Other | null = null): Figure {
  const x = fan.map((_, at) => at + 1);
  const quantile = (index: number) => fan.map((row) => row[index] ?? NaN);
  const line = (y: number[], options: object) => ({ type: "scatter", mode: "lines", x, y, ...options });
  const band = (name: string, low: number, high: number, fillcolor: string) => [
    line(quantile(low), { line: { width: 0 }, showlegend: false, hoverinfo: "skip" }),
    line(quantile(high), { name, line: { width: 0 }, fill: "tonexty", fillcolor, hoverinfo: "skip" }),
  ];
  return {
    data: [
      ...band("90 % of futures", 0, 4, OUTER_BAND),
      ...band("50 %", 1, 3, INNER_BAND),
      line(quantile(2), { name: "Median", line: { color: ENDED, width: 2 } }),
      ...(other ? [drawMedian(other)] : []),
    ],
    layout: { xaxis: DECISIONS_AXIS, yaxis: {}, hovermode: "x" },
  };
}

const drawMedian = ({ name, of: { score_fan } }: Other) => ({
  type: "scatter",
  mode: "lines",
  name: `Median, ${name}`,
  x: score_fan.map((_, at) => at + 1),
  y: score_fan.map((row) => row[2] ?? NaN),
  line: { color: OTHER, width: 2 },
});

/** Return the share of futures that have lost no life after each decision. */
export function drawSurvival(survival: readonly number[]): Figure {
  const trace = {
    type: "scatter",
    mode: "lines",
    x: [0, ...survival.map((_, at) => at + 1)],
    y: [1, ...survival],
    line: { color: ENDED, width: 2, shape: "hv" },
    hovertemplate: "%{y:.0%} after %{x} decisions<extra></extra>",
  };
  return {
    data: [trace],
    layout: { xaxis: DECISIONS_AXIS, yaxis: { range: [0, 1.02], tickformat: ".0%" } },
  };
}

/** Return the description of the histogram for screen readers. */
export const describeReturns = ({ count, value, mean }: FuturesDocument) =>
  `Histogram of the discounted returns of ${plural(count, "future")}. V is ${score(value)}, the mean ${score(mean)}.`;
