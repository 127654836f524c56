import type { Evaluation, JobKind } from "../types";
import type { Operation } from "./patch";

/** State and progress of a job. */
export interface JobNotice {
  id: number;
  run_id: number | null;
  kind: JobKind;
  state: Evaluation["state"] | "removed";
  done: number;
  total: number;
}

/** A change of a watched document: a patch of the version `from`, or the document, or the status of an error. */
export interface DocumentChanged {
  kind: "document.changed";
  path: string;
  etag?: string;
  /** The newest notice before the server read the document. */
  notice?: string;
  from?: string;
  patch?: Operation[];
  document?: unknown;
  status?: number;
}

/** A notice that something changed on the server, or a change of a watched document. */
export type LiveEvent =
  | { kind: "hello"; stream: string }
  | DocumentChanged
  | { kind: "run.metrics" | "run.files"; run_id: number }
  /** Without an id, many runs have changed. */
  | { kind: "run.changed" | "run.log" | "run.removed"; run_id?: number }
  | { kind: "bulk.changed"; id: number }
  | { kind: "job.changed"; job: JobNotice }
  | { kind: "play.changed"; id: number }
  | { kind: "worker.changed"; name: string }
  | { kind: "study.changed" | "study.removed"; study_id: number }
  | { kind: "board.changed"; project_id: number }
  | { kind: "alerts.changed" | "artifacts.changed" | "projects.changed" }
  | { kind: "import.progress"; done: number; total: number }
  | { kind: "refetch" };

export const LIVE_KINDS: readonly LiveEvent["kind"][] = [
  "hello",
  "document.changed",
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
  "bulk.changed",
  "refetch",
];

export type LiveStatus = "connecting" | "live" | "away";

/** Receiver of live events and connection status. */
export interface LiveSink {
  onEvent: (event: LiveEvent) => void;
  onStatus: (status: LiveStatus) => void;
}
