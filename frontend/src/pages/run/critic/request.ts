/** Draft of the calibration form, its checks, and the API request. */

import type { CalibrationRequest, Checkpoint } from "@/api/types";
import { isWholeBetween } from "@/config-form/numbers";
import { exact } from "@/ui/format";
import { parseCheckpoint } from "../evaluations/request";

export interface Draft {
  /** "newest", "best", or the id of a checkpoint. */
  checkpoint: string;
  episodes: string;
  /** Empty for about 40 decisions in total. */
  every: string;
  futures: string;
  horizon: string;
  seed: string;
  measure_regret: boolean;
}

export const FIELDS = [
  "checkpoint",
  "episodes",
  "every",
  "futures",
  "horizon",
  "seed",
  "measure_regret",
] as const;
export type Problems = Partial<Record<(typeof FIELDS)[number], string>>;

const LIMITS = {
  episodes: [1, 100],
  every: [1, 1_000_000],
  futures: [8, 256],
  horizon: [1, 10_000],
  seed: [0, 2 ** 53],
} as const;

export const createDraft = (chosen: Checkpoint | undefined): Draft => ({
  checkpoint: chosen ? String(chosen.id) : "newest",
  episodes: "5",
  every: "",
  futures: "16",
  horizon: "200",
  seed: "1",
  measure_regret: true,
});

/** Return what the server would refuse, by field. */
export function findProblems(draft: Draft): Problems {
  const problems: Problems = {};
  for (const [field, [low, high]] of Object.entries(LIMITS) as [
    keyof typeof LIMITS,
    readonly [number, number],
  ][]) {
    const isDefault = field === "every" && draft.every.trim() === "";
    if (!isDefault && !isWholeBetween(draft[field], low, high))
      problems[field] = `Enter a whole number from ${exact(low)} to ${exact(high)}.`;
  }
  return problems;
}

export function toRequest({ checkpoint, every, measure_regret, ...numbers }: Draft): CalibrationRequest {
  return {
    checkpoint: parseCheckpoint(checkpoint),
    every: every.trim() === "" ? null : Number(every),
    episodes: Number(numbers.episodes),
    futures: Number(numbers.futures),
    horizon: Number(numbers.horizon),
    seed: Number(numbers.seed),
    measure_regret,
  };
}
