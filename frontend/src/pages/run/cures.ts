/** What helps a failed run, where a field of its configuration is the cure. */

import type { Run, RunConfig } from "@/api/types";

export interface Cure {
  /** Fields to change so that the same run can be launched at once. */
  changes?: RunConfig;
  /** Fields to lower; by how much is the user's choice. */
  lower?: string[];
}

/** Fields that decide how much memory a run takes. */
const HUNGRY = [
  "replay_frames",
  "num_envs",
  "num_actors",
  "num_agents",
  "num_learners",
  "num_replays",
  "num_workers",
  "batch_size",
  "t_max",
];

/** Fields that decide how far an update takes the weights. */
const HASTY = ["learning_rate", "max_grad_norm"];

/** The cure of a failure, or null where no field is one. */
export function cureOf({ failure, config }: Pick<Run, "failure" | "config">): Cure | null {
  if (!failure) return null;
  const { message } = failure;
  if (/memory|MemoryError/i.test(message)) {
    const held = HUNGRY.filter((name) => typeof config[name] === "number");
    const named = held.filter((name) => new RegExp(`\\b${name}\\b`).test(message));
    const lower = named.length > 0 ? named : held;
    return lower.length > 0 ? { lower } : null;
  }
  if (/diverged/.test(message)) return { lower: HASTY.filter((name) => typeof config[name] === "number") };
  if (config["device"] === "cuda" && /cuda|gpu/i.test(message)) return { changes: { device: "auto" } };
  return null;
}
