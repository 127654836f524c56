import type { Calibration, CalibrationDocument, CalibrationWithDocument, JudgedMoment } from "@/api/types";
import { FINISHED_JOB } from "./jobs";

export const ERRORS = {
  bias: 0.21,
  bias_interval: [0.1, 0.32],
  bootstrap_weight: 0.13,
  rmse: 0.4,
  correlation: 0.83,
  correlation_interval: [0.7, 0.95],
  skill: 0.6,
  skill_interval: [0.4, 0.8],
  regret: { at_least: 0.03, at_most: 0.06, interval: [0.02, 0.08] },
} satisfies Calibration["errors"];

/** A finished calibration. */
export function aCalibration(id: number, changes: Partial<Calibration> = {}): Calibration {
  return {
    id,
    ...FINISHED_JOB,
    done: 40,
    total: 40,
    episodes: 5,
    every: null,
    futures: 16,
    horizon: 200,
    measure_regret: true,
    moments_done: 40,
    moments_total: 40,
    errors: ERRORS,
    ...changes,
  };
}

/** A calibration that is queued, in progress or failed. */
export const anUnfinishedCalibration = (id: number, changes: Partial<Calibration> = {}): Calibration =>
  aCalibration(id, {
    state: "queued",
    errors: null,
    finished_at: null,
    done: 0,
    moments_done: 0,
    ...changes,
  });

export function aMoment(episode: number, decision: number, value: number, mean: number): JudgedMoment {
  return {
    episode,
    decision,
    value,
    mean,
    interval: [mean - 0.1, mean + 0.1],
    standard_error: 0.05,
    regret: { at_least: 0.03, at_most: 0.06 },
    bootstrap_weight: 0.13,
  };
}

/** A calibration with its document. */
export function withDocument(
  calibration: Calibration,
  changes: Partial<CalibrationDocument> = {},
): CalibrationWithDocument {
  const moments = [aMoment(0, 129, 2, 1), aMoment(3, 54, 1, 1.2)];
  const document: CalibrationDocument = {
    ...ERRORS,
    env: "ALE/Pong-v5",
    algorithm: "paac",
    checkpoint_step: calibration.step,
    protocol: calibration.protocol,
    acting: { name: "sampled", epsilon: null },
    seed: 1,
    episodes: 5,
    every: 55,
    futures: 16,
    horizon: 200,
    gamma: 0.99,
    clip_rewards: true,
    bins: [],
    worst: moments,
    moments,
    warnings: [],
    seconds: 60,
    ...changes,
  };
  return { ...calibration, document };
}
