import { MAX_RUNS } from "@/api/comparisons";
import type { Study, StudyPoint } from "@/api/types";
import type { Cell } from "@/charts/csv";
import { exact } from "@/ui/format";

/** Return the points by descending mean. Points without a mean come last, in their original order. */
export function ranked(points: readonly StudyPoint[]): StudyPoint[] {
  return points.toSorted((a, b) => {
    if (a.mean === null || b.mean === null) return Number(a.mean === null) - Number(b.mean === null);
    return b.mean - a.mean || a.number - b.number;
  });
}

/** Return the URL of a comparison of the points' runs, or null if there are none or too many. */
export function comparisonOf(points: readonly StudyPoint[]): string | null {
  const ids = points.flatMap(({ runs }) => runs.filter(isThere).map(({ run_id }) => run_id));
  return ids.length > 0 && ids.length <= MAX_RUNS ? `/compare?runs=${ids.join(",")}` : null;
}

/** Return true if a run has a page. */
export function isThere({ run_id, state }: StudyPoint["runs"][number]): boolean {
  return run_id !== null && state !== "removed";
}

/** Return which other runs a stopped study creates when seeds resume it, or null. */
export function alsoMade({ state, runs_remaining }: Study): string | null {
  if (state !== "stopped" || runs_remaining === 0) return null;
  return runs_remaining === 1
    ? "This also creates its remaining run."
    : `This also creates its ${exact(runs_remaining)} remaining runs.`;
}

/** Return the decision of a study until certain about a point. */
export function decisionOf(study: Study, { decision }: StudyPoint): string {
  if (!decision) return "";
  if (decision.state === "undecided") return "Undecided";
  if (decision.state === "limit_reached") return "Limit reached";
  const better = study.table.find(({ number }) => number === decision.beaten_by);
  return better ? `Ranks below ${better.label}` : "Ranks highest";
}

export const POINT_HEADER = [
  "point",
  "what",
  "seed",
  "run",
  "state",
  "score",
  "finished",
  "failed",
  "mean",
  "low",
  "high",
  "decision",
];

/** Return all runs of all points for a CSV file. */
export function pointCells(study: Study): Cell[][] {
  return study.table.flatMap((point) => {
    const { number, label, runs, n, failed, mean, low, high } = point;
    return runs.map(({ seed, run_id, state, score }) => [
      number,
      label,
      seed,
      run_id,
      state,
      score,
      n,
      failed,
      mean,
      low,
      high,
      decisionOf(study, point),
    ]);
  });
}
