import type { JobNotice } from "../jobs";

/** A change on the server. Only a job's progress is part of the event; the browser fetches all other data. */
export type LiveEvent =
  | { kind: "run.changed" | "run.metrics" | "run.log" | "run.files" | "run.removed"; run_id: number }
  | { kind: "job.changed"; job: JobNotice }
  | { kind: "play.changed"; id: number }
  | { kind: "worker.changed"; name: string }
  | { kind: "study.changed" | "study.removed"; study_id: number }
  | { kind: "board.changed"; project_id: number }
  | { kind: "alerts.changed" | "artifacts.changed" | "projects.changed" }
  | { kind: "import.progress"; done: number; total: number }
  | { kind: "refetch" };

export const LIVE_KINDS: readonly LiveEvent["kind"][] = [
  "run.changed",
  "run.metrics",
  "run.log",
  "run.files",
  "run.removed",
  "job.changed",
  "play.changed",
  "worker.changed",
  "study.changed",
  "study.removed",
  "alerts.changed",
  "artifacts.changed",
  "projects.changed",
  "import.progress",
  "board.changed",
  "refetch",
];

export type LiveStatus = "connecting" | "live" | "away";

/** Receiver of live events and connection status. */
export interface LiveSink {
  onEvent: (event: LiveEvent) => void;
  onStatus: (status: LiveStatus) => void;
}
