import type { ConfigValue, Worker } from "@/api/types";

/** Where a run with this device will wait, and for how long, in plain words. */
export function queueHint(device: ConfigValue | undefined, workers: readonly Worker[] | undefined): string {
  const queue = device === "cuda" ? "gpu" : "cpu";
  const name = queue === "gpu" ? "GPU worker" : "CPU worker";
  if (!workers) return `Runs on a ${name}.`;
  const present = workers.filter((worker) => worker.queue === queue && worker.state !== "gone");
  const idle = present.filter((worker) => worker.state === "idle").length;
  if (idle > 0) return `A ${name} is free: training starts at once.`;
  if (present.length > 0) return `Every ${name} is busy: training starts when one is free.`;
  return `No ${name} is connected: training starts when one is.`;
}
