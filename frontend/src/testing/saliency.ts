import type { Saliency, SaliencyMaps } from "@/api/types";

/** The state of the saliency of replay 2. */
export function aSaliencyState(changes: Partial<Saliency> = {}): Saliency {
  return {
    replay_id: 2,
    run_id: 1,
    job_id: 1,
    state: "done",
    reason: null,
    traceback: null,
    done: 10,
    total: 10,
    file_id: 900,
    worker: null,
    created_at: "2026-01-01T10:30:00Z",
    started_at: "2026-01-01T10:30:10Z",
    finished_at: null,
    ...changes,
  };
}

/**
 * The saliency of two decisions on a grid of 2 × 2 cells. At the first decision, cell 1 is salient for the
 * policy and cell 2 for the value. At the second one, cell 3 is salient for both, a quarter as much.
 */
export function aSaliency(changes: Partial<SaliencyMaps> = {}): SaliencyMaps {
  const inBase64 = (...places: number[]) => btoa(String.fromCharCode(...places));
  return {
    head: {
      format: "arcadia-saliency",
      version: 1,
      env: "ALE/Breakout-v5",
      algorithm: "paac",
      checkpoint_step: 1000,
      checkpoint_sha256: "0".repeat(64),
      numbers_kind: "policy",
      side: 84,
      first: 2,
      spacing: 5,
      sigma: 5,
      blur_sigma: 3,
    },
    rows: 2,
    policy: inBase64(0, 255, 0, 0, 0, 0, 0, 255),
    value: inBase64(0, 0, 255, 0, 0, 0, 0, 255),
    policy_peak: [1, 0.25],
    value_peak: [4, 1],
    ...changes,
  };
}
