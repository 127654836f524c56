import type { ConfigValue, Worker } from "@/api/types";

/** Return which kind of worker a run needs and when it can start. */
export function queueHint(device: ConfigValue | undefined, workers: readonly Worker[] | undefined): string {
  const queue = device === "cuda" ? "gpu" : "cpu";
  const name = queue === "gpu" ? "GPU worker" : "CPU worker";
  if (!workers) return `Runs on a ${name}.`;
  const present = workers.filter((worker) => worker.queue === queue && worker.state !== "gone");
  const idle = present.filter((worker) => worker.state === "idle").length;
  if (idle > 0) return `A ${name} is free. Training starts immediately.`;
  if (present.length > 0) return `All ${name}s are busy. Training starts when one is free.`;
  return `No ${name} is connected. Start one to train.`;
}
