import { MAX_RUNS } from "@/api/comparisons";
import type { Study, StudyPoint } from "@/api/types";
import type { Cell } from "@/charts/csv";
import { exact } from "@/ui/format";

/** The points with the largest mean first; those without one come last, in the order of drawing. */
export function ranked(points: readonly StudyPoint[]): StudyPoint[] {
  return points.toSorted((a, b) => {
    if (a.mean === null || b.mean === null) return Number(a.mean === null) - Number(b.mean === null);
    return b.mean - a.mean || a.number - b.number;
  });
}

/** The address of a comparison of points' runs, grouped by seed; null where there is none yet, or too many. */
export function comparisonOf(points: readonly StudyPoint[]): string | null {
  const ids = points.flatMap(({ runs }) => runs.filter(isThere).map(({ run_id }) => run_id));
  return ids.length > 0 && ids.length <= MAX_RUNS ? `/compare?runs=${ids.join(",")}` : null;
}

/** Whether a run has a page. */
export function isThere({ run_id, state }: StudyPoint["runs"][number]): boolean {
  return run_id !== null && state !== "removed";
}

/** What a stopped study makes besides the seeds that are added, since it goes on; null where that is nothing. */
export function alsoMade({ state, runs_remaining }: Study): string | null {
  if (state !== "stopped" || runs_remaining === 0) return null;
  return runs_remaining === 1
    ? "Its run not made yet is made too."
    : `Its ${exact(runs_remaining)} runs not made yet are made too.`;
}

export const POINT_HEADER = ["point", "what", "seed", "run", "state", "score", "mean", "low", "high"];

/** Every run of every point, for a spreadsheet. */
export function pointCells(study: Study): Cell[][] {
  return study.table.flatMap(({ number, label, runs, mean, low, high }) =>
    runs.map(({ seed, run_id, state, score }) => [
      number,
      label,
      seed,
      run_id,
      state,
      score,
      mean,
      low,
      high,
    ]),
  );
}
