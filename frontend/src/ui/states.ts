import type { Run, RunState } from "@/api/types";

export const STATES: readonly RunState[] = [
  "queued",
  "starting",
  "running",
  "paused",
  "stopped",
  "finished",
  "failed",
];

export const STATE_NAMES: Record<RunState, string> = {
  queued: "Queued",
  starting: "Starting",
  running: "Running",
  paused: "Paused",
  stopped: "Stopped",
  finished: "Finished",
  failed: "Failed",
};

export function isState(word: string): word is RunState {
  return Object.hasOwn(STATE_NAMES, word);
}

type StateOf = Pick<Run, "state" | "desired">;

export function isActive(run: Pick<Run, "state">): boolean {
  return run.state === "queued" || run.state === "starting" || run.state === "running";
}

/** The state in a word, and what is under way: a run asked to stop is "Stopping" until it has. */
export function stateName(run: StateOf): string {
  if (isActive(run) && run.desired === "stop") return "Stopping";
  if (isActive(run) && run.desired === "pause") return "Pausing";
  return STATE_NAMES[run.state];
}
