import type { Study, StudyPoint } from "@/api/types";

/** A point with two seeds. The run of the second one is queued. */
export function aPoint(number: number, changes: Partial<StudyPoint> = {}): StudyPoint {
  const values = { learning_rate: [0.0001, 0.001, 0.01][number] };
  const run = { step: 1000, total_steps: 1000 };
  return {
    number,
    label: `Learning rate ${values.learning_rate}`,
    values,
    runs: [
      { ...run, seed: 1, run_id: 10 * number + 1, state: "finished", score: 20 + number },
      { ...run, seed: 2, run_id: null, state: "planned", step: 0, score: null },
    ],
    n: 1,
    failed: 0,
    mean: 20 + number,
    low: null,
    high: null,
    decision: null,
    ...changes,
  };
}

/** A running study of two learning rates. */
export function aStudy(changes: Partial<Study> = {}): Study {
  const table = changes.table ?? [aPoint(0), aPoint(1)];
  return {
    id: 3,
    name: "Which rate?",
    project: "Main",
    question: "Which learns **fastest**?",
    origin: null,
    state: "running",
    state_reason: null,
    created_at: "2026-01-01T10:00:00Z",
    started_at: "2026-01-01T10:00:00Z",
    finished_at: null,
    runs: {
      planned: 2,
      queued: 0,
      starting: 0,
      running: 0,
      paused: 0,
      finished: 2,
      failed: 0,
      stopped: 0,
      removed: 0,
    },
    points: table.length,
    may_edit: true,
    best: 21,
    actions: {
      pause: null,
      resume: "Study 3 is running already.",
      stop: null,
      delete: "Study 3 is still running.",
    },
    specification: {
      name: "Which rate?",
      question: "Which learns **fastest**?",
      preset: "paac-cartpole",
      axes: [{ field: "learning_rate", values: [1e-4, 1e-3] }],
      seeds: [1, 2],
    },
    runs_remaining: 2,
    axes: [{ title: "Learning rate", fields: ["learning_rate"], numeric: true, log: true }],
    table,
    verdict: null,
    ...changes,
  };
}
