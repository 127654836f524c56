import type { JobNotice } from "@/api/live/events";

/** Fields of a job that waits. */
export const QUEUED_JOB = {
  job_id: 1,
  state: "queued",
  reason: null,
  traceback: null,
  done: 0,
  total: 30,
  worker: null,
  created_at: "2026-01-01T10:30:00Z",
  started_at: null,
  finished_at: null,
} as const;

/** Fields of a job that a worker finished on a checkpoint. */
export const FINISHED_JOB = {
  ...QUEUED_JOB,
  run_id: 1,
  state: "done",
  done: 30,
  origin: "asked",
  checkpoint_id: 7,
  checkpoint_sha256: "ab".repeat(32),
  step: 250_000,
  frames: 1_000_000,
  superseded: false,
  protocol: "no-op-5min",
  seed: 1,
  started_at: "2026-01-01T10:30:10Z",
  finished_at: "2026-01-01T10:32:10Z",
} as const;

/** Progress of a running evaluation, as the event job.changed has it. */
export const aJobNotice = (changes: Partial<JobNotice> = {}): JobNotice => ({
  id: 1,
  run_id: 1,
  kind: "evaluation",
  state: "running",
  done: 12,
  total: 30,
  ...changes,
});
