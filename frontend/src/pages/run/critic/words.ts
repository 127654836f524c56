/** Texts that describe calibrations. */

import type { Calibration, CalibrationErrors } from "@/api/types";
import { decimalsFor, formatInterval, formatNumber } from "@/replays/futures/words";
import { exact, plural, score, short } from "@/ui/format";

type Interval = readonly [number, number];

/** Return the name of a calibration: "250 k steps". */
export const calibrationName = ({ step }: Pick<Calibration, "step">) => short(step, "steps");

/** Format a mean as precisely as its interval allows. */
export const formatMeasure = (value: number, interval: Interval | null) =>
  formatNumber(value, interval && decimalsFor(interval[1] - interval[0]));

const within = (interval: Interval | null) => (interval ? ` (95 % ${formatInterval(interval)})` : "");

const contains = (interval: Interval | null, value: number) =>
  interval !== null && interval[0] <= value && value <= interval[1];

/** Return the bias in words: "The critic is 0.21 too high on average (95 % 0.1 to 0.32)." */
export function describeBias({ bias, bias_interval }: CalibrationErrors): string {
  if (!Number.isFinite(Number(bias)))
    return `The bias is ${score(bias)}, because some values are not finite.`;
  if (contains(bias_interval, 0) || bias === 0)
    return `No bias of the critic is shown: it is ${formatMeasure(bias, bias_interval)} on average${within(bias_interval)}.`;
  const side = bias > 0 ? "high" : "low";
  const interval =
    bias_interval && bias < 0 ? ([-bias_interval[1], -bias_interval[0]] as const) : bias_interval;
  return `The critic is ${formatMeasure(Math.abs(bias), bias_interval)} too ${side} on average${within(interval)}.`;
}

/** Return how well values follow returns: "A single value is off by 0.4 (RMSE). Correlation 0.83." */
export function describeErrors({ rmse, correlation }: CalibrationErrors): string {
  const relation =
    correlation === null
      ? "There is no correlation, because the values or the returns are all equal."
      : `The correlation of values and returns is ${score(correlation)}.`;
  return `A single value is off by ${score(rmse)} (RMSE). ${relation}`;
}

/** Return what the chosen actions cost: "The chosen action loses 0.05 on average against the best." */
export function describeRegret({ regret }: CalibrationErrors): string {
  if (regret === null) return "The regret was not measured.";
  const { mean, interval } = regret;
  if (mean <= 0 || contains(interval, 0))
    return `No loss by the chosen action is shown: it is ${formatMeasure(mean, interval)} on average${within(interval)}.`;
  return `The chosen action loses ${formatMeasure(mean, interval)} on average against the best${within(interval)}.`;
}

/** Return the size of a calibration: "5 episodes, every 55th decision, 16 futures of up to 200 decisions". */
export function describeSize({ episodes, every, futures, horizon }: SizeOf): string {
  const which = every === null ? "decisions spread evenly" : describeEvery(every);
  return `${plural(episodes, "episode")}, ${which}, ${futures} futures of up to ${plural(horizon, "decision")}`;
}

type SizeOf = Pick<Calibration, "episodes" | "every" | "futures" | "horizon">;

const describeEvery = (every: number) =>
  every === 1 ? "every decision" : `every ${exact(every)}${ordinalSuffix(every)} decision`;

function ordinalSuffix(count: number): string {
  const teens = count % 100;
  if (teens >= 11 && teens <= 13) return "th";
  return { 1: "st", 2: "nd", 3: "rd" }[count % 10] ?? "th";
}
