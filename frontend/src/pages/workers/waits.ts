/** Forecasts of starts in words, and the chart of expected and real waits. */

import type { Figure, StartCalibration } from "@/api/types";
import { duration, exact, nearestPercent, plural } from "@/ui/format";

type Score = StartCalibration["all"];

const BLUE = "#0072b2";
const GRAY = "#8a8f98";
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const TICKS = [1, 10, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY];

/** Return how many runs started by the stated time, such as "54 of 60, 90 % (95 % interval 80 to 95 %)". */
export function describeScore({ forecasts, on_time, share, low, high }: Score): string {
  const counted = `${exact(on_time)} of ${exact(forecasts)}`;
  if (share === null) return counted;
  const found = `${counted}, ${nearestPercent(share)}`;
  if (low === null || high === null) return `${found} (too few days for an interval)`;
  return `${found} (95 % interval ${nearestPercent(low)} to ${nearestPercent(high)})`;
}

/** Return a sentence that compares what forecasts state with what happened. */
export function describeCalibration({ undisturbed, stated_share, min_forecasts }: StartCalibration): string {
  const { forecasts, share, low, high } = undisturbed;
  if (share === null) {
    return `${plural(forecasts, "forecast")} can be compared with what happened. That is too few: a share needs ${min_forecasts}.`;
  }
  const found = `${nearestPercent(share)} of runs started by the stated time. Forecasts state ${nearestPercent(stated_share)}.`;
  if (low === null || high === null) return found;
  if (high < stated_share) return `${found} They are too early.`;
  if (low > stated_share) return `${found} They are too cautious.`;
  return `${found} The difference may be chance.`;
}

/** Return a figure with the median and the middle half of real waits by expected wait, on logarithmic axes. */
export function drawWaits({ waits }: StartCalibration): Figure {
  const ends = waits.flatMap(({ expected, early, late }) => [expected, early, late]);
  const range = [Math.min(...ends) / 1.5, Math.max(...ends) * 1.5];
  const axis = (title: string) => ({
    title: { text: title },
    type: "log",
    range: range.map(Math.log10),
    tickvals: TICKS,
    ticktext: TICKS.map(duration),
  });
  return {
    data: [
      {
        type: "scatter",
        mode: "lines",
        name: "As expected",
        x: range,
        y: range,
        line: { color: GRAY, dash: "dash", width: 1 },
        hoverinfo: "skip",
      },
      {
        type: "scatter",
        mode: "markers",
        name: "Real wait: median, with the middle half",
        x: waits.map(({ expected }) => expected),
        y: waits.map(({ middle }) => middle),
        text: waits.map(
          ({ forecasts, expected, middle, early, late }) =>
            `${plural(forecasts, "run")}: expected ${duration(expected)}, waited ${duration(middle)} (middle half ${duration(early)} to ${duration(late)})`,
        ),
        marker: { color: BLUE, size: 8 },
        error_y: {
          type: "data",
          symmetric: false,
          array: waits.map(({ middle, late }) => late - middle),
          arrayminus: waits.map(({ middle, early }) => middle - early),
          color: BLUE,
          thickness: 1.5,
          width: 3,
        },
        hovertemplate: "%{text}<extra></extra>",
      },
    ],
    layout: { xaxis: axis("Expected wait"), yaxis: axis("Real wait") },
  };
}
