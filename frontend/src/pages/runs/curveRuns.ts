/** Choice of the runs and groups whose curves the charts beside the table show. */

import type { ListedGroup } from "@/api/types";
import { plural, short } from "@/ui/format";
import type { RunsView } from "./view";

/** Runs at the top of the list that have curves without being chosen. */
export const FIRST_RUNS = 10;
/** Maximum number of curves in one chart. */
const MAX_CURVES = 30;
const MAX_GROUPS = 10;
/** The server draws at most this many runs. */
const MAX_GROUPED_RUNS = 100;

type Choice = Pick<RunsView, "pinned" | "hidden" | "shown">;

/** Return the runs with curves: pinned and chosen ones, and the first of the list that are not hidden. */
export function drawnRuns(listed: readonly number[], { pinned, hidden, shown }: Choice): number[] {
  const first = listed.filter((id) => !hidden.includes(id)).slice(0, FIRST_RUNS);
  const wanted = [...pinned, ...shown, ...first].filter((id) => !hidden.includes(id));
  return [...new Set(wanted)].slice(0, MAX_CURVES);
}

/** Show or hide the curve of a run. */
export function toggleCurve(listed: readonly number[], choice: Choice, id: number): Choice {
  const without = {
    ...choice,
    hidden: choice.hidden.filter((other) => other !== id),
    shown: choice.shown.filter((other) => other !== id),
  };
  if (drawnRuns(listed, choice).includes(id)) return { ...without, hidden: [...without.hidden, id] };
  return drawnRuns(listed, without).includes(id) ? without : { ...without, shown: [...without.shown, id] };
}

/** Return the choice with a run pinned or not. A pinned run is not hidden. */
export function togglePin({ pinned, hidden, shown }: Choice, id: number): Choice {
  if (pinned.includes(id)) return { pinned: pinned.filter((other) => other !== id), hidden, shown };
  return { pinned: [...pinned, id], hidden: hidden.filter((other) => other !== id), shown };
}

/** Charts of one metric, if each environment has its own. */
export const MAX_ENVIRONMENTS = 4;
/** The choice to draw all environments in one chart. */
export const ALL_IN_ONE = "all";

/** The runs of a chart, and their environment unless it is the only one or they are in several. */
export interface ChartRuns {
  env: string | null;
  runs: readonly number[];
}

/** Return the runs of each chart of a metric: one chart for each environment, or those that are chosen. */
export function chartsByEnvironment(
  drawn: readonly number[],
  environments: ReadonlyMap<number, string>,
  chosen: string,
): ChartRuns[] {
  const found = new Map<string, number[]>();
  for (const id of drawn) {
    const env = environments.get(id) ?? "";
    found.set(env, [...(found.get(env) ?? []), id]);
  }
  if (found.size < 2 || chosen === ALL_IN_ONE) return [{ env: null, runs: drawn }];
  const charts = [...found].map(([env, runs]) => ({ env, runs }));
  const one = charts.filter(({ env }) => env === chosen);
  // The most runs first, so that the charts that are left out have few.
  return one.length > 0 ? one : charts.sort((a, b) => b.runs.length - a.runs.length);
}

/** Return which of all runs have curves, in words. */
export function curvesText(drawn: readonly number[], total: number): string {
  if (drawn.length >= total) return `Curves of all ${plural(drawn.length, "run")}.`;
  const runs = short(total, "runs");
  return `Curves of ${drawn.length} of ${runs}: the first ${FIRST_RUNS}, and those you pin or show with their dot.`;
}

/** Fields of groups that are not settings, and that curves cannot be grouped by. */
const NOT_DRAWN: Record<string, string> = { state: "state", project: "project", study: "study", tag: "tag" };
const SETTING_NAMES: Record<string, string> = { method: "algorithm" };

/** Return the settings that the curves of groups are grouped by. */
export function drawnFields(by: readonly string[]): string[] {
  return by.filter((name) => !(name in NOT_DRAWN)).map((name) => SETTING_NAMES[name] ?? name);
}

/** Return the first groups that fit into one chart. */
export function drawnGroups(groups: readonly ListedGroup[]): ListedGroup[] {
  const found: ListedGroup[] = [];
  let runs = 0;
  for (const group of groups.slice(0, MAX_GROUPS)) {
    runs += group.run_ids.length;
    if (runs > MAX_GROUPED_RUNS) break;
    found.push(group);
  }
  return found;
}

/** Return which of all groups have curves, in words. */
export function groupCurvesText(drawn: readonly ListedGroup[], total: number, by: readonly string[]): string {
  const parts = [
    `${drawn.length < total ? `The first ${drawn.length} of ${short(total, "groups")}` : plural(total, "group")}: ` +
      "the mean of each, with its 95 % interval.",
  ];
  if (drawn.some((group) => group.runs > group.run_ids.length))
    parts.push("Large groups show their newest runs.");
  const missing = by.filter((name) => name in NOT_DRAWN).map((name) => NOT_DRAWN[name]);
  if (missing.length > 0) parts.push(`Curves cannot be grouped by ${missing.join(" or ")}.`);
  return parts.join(" ");
}
