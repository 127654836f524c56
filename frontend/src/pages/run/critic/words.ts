/** Texts that describe calibrations. */

import type { Calibration, CalibrationErrors } from "@/api/types";
import { decimalsFor, exact, formatDecimals, formatInterval, plural, score, short } from "@/ui/format";

type Interval = readonly [number, number];

/** Return the name of a calibration: "250 k steps". */
export const calibrationName = ({ step }: Pick<Calibration, "step">) => short(step, "steps");

/** Format a mean as precisely as its interval allows. */
export const formatMeasure = (value: number, interval: Interval | null) =>
  formatDecimals(value, interval && decimalsFor(interval[1] - interval[0]));

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

/** Return how much of a bias the critic's own values hide, or null if it is little. */
export function describeOwnValues({ bias, bootstrap_weight: weight = 0 }: CalibrationErrors): string | null {
  if (weight < SMALL_WEIGHT) return null;
  const share = `${Math.round(weight * 100)} %`;
  const real =
    weight < 1 && Number.isFinite(Number(bias))
      ? `If all values are wrong by the same amount, it is ${score(bias / (1 - weight))}.`
      : "It cannot be measured.";
  return `${share} of the returns are the critic's own values at the end of the futures, which hide that share of the bias. ${real} A longer horizon shows more.`;
}

const SMALL_WEIGHT = 0.05;

/** Return how well values follow returns: "A single value is off by 0.4 (RMSE)…" */
export function describeErrors(errors: CalibrationErrors): string {
  const { bias, rmse, correlation, correlation_interval = null } = errors;
  const { skill = null, skill_interval = null } = errors;
  const relation =
    correlation === null
      ? "There is no correlation, because the values or the returns are all equal."
      : `The correlation of values and returns is ${formatMeasure(correlation, correlation_interval)}${within(correlation_interval)}.`;
  if (Number(rmse) <= Math.abs(Number(bias)))
    return `The errors of single values differ by less than the noise of the futures. More futures can measure that. ${relation}${describeSkill(skill, skill_interval)}`;
  return `A single value is off by ${score(rmse)} (RMSE). ${relation}${describeSkill(skill, skill_interval)}`;
}

function describeSkill(skill: number | null, interval: Interval | null): string {
  if (skill === null) return "";
  const value = `${formatMeasure(skill, interval)}${within(interval)}`;
  return ` Skill against always predicting the mean return: ${value}; 1 is perfect, and at 0 or below the values are no better.`;
}

/** Return what the chosen actions cost: "The chosen action loses 0.02 to 0.08 on average against the best…" */
export function describeRegret({ regret }: CalibrationErrors): string {
  if (regret === null) return "The regret was not measured.";
  const { at_least, at_most, interval } = regret;
  if (interval === null)
    return `The chosen action loses about ${formatInterval([at_least, at_most])} on average against the best. For an interval, too few episodes were played, or all losses are equal.`;
  if (interval[0] <= 0)
    return `No loss by the chosen action is shown: it is at most ${formatDecimals(interval[1], decimalsFor(interval[1]))} on average against the best (95 %). More futures lower this bound.`;
  return `The chosen action loses ${formatInterval(interval)} on average against the best (95 %).`;
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
