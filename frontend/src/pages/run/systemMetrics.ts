import type { Run } from "@/api/types";
import { isReported } from "@/ui/states";

/** Return a test for metrics that describe the host of a run rather than the learning. Scripts name theirs freely. */
export function isSystemMetric(run: Pick<Run, "origin">): (name: string) => boolean {
  const prefixes = isReported(run) ? ["system/"] : ["system/", "throughput/", "time/"];
  return (name) => prefixes.some((prefix) => name.startsWith(prefix));
}

/** Return a test for metrics of the learning. */
export function isLearningMetric(run: Pick<Run, "origin">): (name: string) => boolean {
  const others = isReported(run) ? ["system/"] : ["system/", "time/"];
  return (name) => !others.some((prefix) => name.startsWith(prefix));
}
