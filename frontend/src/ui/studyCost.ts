import type { StudyPreview } from "@/api/types";
import { duration, plural, short } from "./format";

/** Return the number of runs of a study: "15 runs", or "2 to 40 runs" if it may add seeds. */
export function runRange({ min_runs, runs }: Pick<StudyPreview, "min_runs" | "runs">): string {
  return min_runs < runs ? `${min_runs} to ${plural(runs, "run")}` : plural(runs, "run");
}

/** Return the cost of a study: "15 runs, 1.5 M steps, about 2 h 10 min on 1 worker". */
export function studyCostText(preview: StudyPreview): string {
  const { steps, seconds, concurrent_runs, unmeasured } = preview;
  const cost = `${runRange(preview)}, ${short(steps, "steps")}`;
  if (seconds !== null) return `${cost}, about ${duration(seconds)} on ${plural(concurrent_runs, "worker")}`;
  return `${cost}. Duration unknown: no run of ${unmeasured.join(" or ")} has trained here`;
}
