import type { StudyPreview } from "@/api/types";
import { duration, plural, short } from "./format";

/** "15 runs, 1.5 M steps, about 2 h 10 min on 1 worker". */
export function costWords({ runs, steps, seconds, places, unmeasured }: StudyPreview): string {
  const cost = `${plural(runs, "run")}, ${short(steps, "steps")}`;
  if (seconds !== null) return `${cost}, about ${duration(seconds)} on ${plural(places, "worker")}`;
  return `${cost}; how long is not known, since no run of ${unmeasured.join(" or ")} has trained here`;
}
