/** Fields of a job that a worker finished on a checkpoint. */
export const FINISHED_JOB = {
  run_id: 1,
  state: "done",
  reason: null,
  traceback: null,
  origin: "asked",
  checkpoint_id: 7,
  checkpoint_sha256: "ab".repeat(32),
  step: 250_000,
  frames: 1_000_000,
  superseded: false,
  protocol: "no-op-5min",
  seed: 1,
  worker: null,
  created_at: "2026-01-01T10:30:00Z",
  started_at: "2026-01-01T10:30:10Z",
  finished_at: "2026-01-01T10:32:10Z",
} as const;
