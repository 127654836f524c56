/** Differences between the numbers of a run and those of the baseline. */

import type { ListedGroup, ListedRun, MetricValue } from "@/api/types";
import { parseMetricId } from "./columns";
import { computedName, parseComputed } from "./computedColumns";

/** 1 if more is better, -1 if less is better, 0 if neither is. */
export type Direction = 1 | -1 | 0;

export interface Delta {
  value: number;
  direction: Direction;
}

/** Numbers of a run that are columns, with their directions. */
const NUMBERS: Record<
  string,
  [direction: Direction, read: (run: ListedRun) => MetricValue | null | undefined]
> = {
  last_return: [1, (run) => run.last_return],
  best_return: [1, (run) => run.best_return],
  steps_per_second: [1, (run) => run.steps_per_second],
  step: [0, (run) => run.step],
  frames: [0, (run) => run.frames],
  episodes: [0, (run) => run.episodes],
};

/** Return the direction of a metric by its name. */
export function directionOf(metric: string): Direction {
  if (/return|score|reward|per_second|accuracy/i.test(metric)) return 1;
  return /loss|error|seconds|duration|latency/i.test(metric) ? -1 : 0;
}

/** Return the difference to the baseline in a column, or null if one of them has no number there. */
export function deltaOf(run: ListedRun, baseline: ListedRun, column: string): Delta | null {
  const found = readColumn(run, column);
  const other = readColumn(baseline, column);
  if (!found || !other || typeof found.value !== "number" || typeof other.value !== "number") return null;
  return { value: found.value - other.value, direction: found.direction };
}

/** Values of groups, with the columns that have them for a run. */
const GROUP_VALUES = { return: "last_return", best_return: "best_return" } as const;
export type GroupValue = keyof typeof GROUP_VALUES;

/** Return the difference of a group's mean to that of the baseline's group, or to the baseline if it is in none. */
export function groupDelta(
  group: ListedGroup,
  value: GroupValue,
  baseline: ListedRun,
  baselineGroup: ListedGroup | null,
): Delta | null {
  const mean = group.statistics[value]?.mean;
  const other = baselineGroup ? baselineGroup.statistics[value]?.mean : baseline[GROUP_VALUES[value]];
  if (typeof mean !== "number" || typeof other !== "number") return null;
  return { value: mean - other, direction: 1 };
}

/** Return true if both are the same group, found by queries with more or fewer fields. */
export const isSameGroup = (one: ListedGroup, other: ListedGroup): boolean =>
  one.runs === other.runs && one.run_ids.join() === other.run_ids.join();

function readColumn(run: ListedRun, column: string) {
  const known = NUMBERS[column];
  if (known) return { direction: known[0], value: known[1](run) };
  const computed = parseComputed(column);
  if (computed) return { direction: 0 as const, value: run.computed?.[computedName(computed.expression)] };
  const { metric, statistic } = parseMetricId(column) ?? {};
  if (metric === undefined || statistic === undefined) return null;
  return { direction: directionOf(metric), value: run.metrics?.[metric]?.[statistic] };
}

/** Return whether a difference is better, worse or neither. */
export function judge({ value, direction }: Delta): "better" | "worse" | "neutral" {
  const good = Math.sign(value) * direction;
  return good > 0 ? "better" : good < 0 ? "worse" : "neutral";
}
