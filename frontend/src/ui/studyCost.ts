import type { StudyPreview } from "@/api/types";
import { duration, plural, short } from "./format";

/** Return the cost of a study: "15 runs, 1.5 M steps, about 2 h 10 min on 1 worker". */
export function studyCostText({ runs, steps, seconds, concurrent_runs, unmeasured }: StudyPreview): string {
  const cost = `${plural(runs, "run")}, ${short(steps, "steps")}`;
  if (seconds !== null) return `${cost}, about ${duration(seconds)} on ${plural(concurrent_runs, "worker")}`;
  return `${cost}. Duration unknown: no run of ${unmeasured.join(" or ")} has trained here`;
}
