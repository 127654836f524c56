import type { Run, RunState } from "@/api/types";
import { toSentence } from "./format";

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

/** Return true if Arcadia does not train the run, so that it cannot start or copy it. */
export function isReported(run: Pick<Run, "origin">): boolean {
  return run.origin !== "trained";
}

/** Return true if the run has checkpoints whose agent plays in evaluations, replays and live games. */
export function hasAgent(run: Pick<Run, "origin">): boolean {
  return run.origin === "trained" || run.origin === "agent";
}

/** Return why this server cannot start, evaluate or play a run, as a sentence. Null if it can. */
export function unsupportedReason({
  actions,
  unsupported_because: clause,
}: Pick<Run, "actions" | "unsupported_because">) {
  return actions.edit ?? (clause && toSentence(clause));
}

/** Return what logged or imported a run, for example "Python" or "TensorBoard". */
export function originName(run: Pick<Run, "origin" | "origin_label">): string {
  return run.origin_label ?? (run.origin === "reported" ? "Script" : "Imported");
}

/** Return the method and the environment of a run: "PAAC on ALE/Pong-v5". A script may name neither. */
export function methodOnEnv(run: Pick<Run, "method" | "env">): string {
  return [run.method, run.env].filter(Boolean).join(" on ");
}

type WithReturns = Pick<Run, "origin" | "episodes" | "last_return">;

/** Return true if a script logged means over recent episodes, but no episodes. Its returns are such means. */
export function hasMeansOnly(run: WithReturns): boolean {
  return isReported(run) && run.episodes === 0 && run.last_return !== null;
}

/** Return what the last return of a run is. */
export function lastReturnMeaning(run: WithReturns, usual = "Mean of the last 100 episodes"): string {
  return hasMeansOnly(run)
    ? "Last mean over recent episodes that was logged, without single episodes"
    : usual;
}

/** Return what the best return of a run is. */
export function bestReturnMeaning(run: WithReturns): string {
  return hasMeansOnly(run) ? "Best mean over recent episodes that was logged" : "Best mean of 100 episodes";
}

export const ORIGIN_NAMES: Record<Run["origin"], string> = {
  trained: "Trained by Arcadia",
  reported: "Logged by a script",
  imported: "Imported",
  agent: "Imported agent",
};

export function isOrigin(word: string): word is Run["origin"] {
  return Object.hasOwn(ORIGIN_NAMES, word);
}

type StateOf = Pick<Run, "state" | "desired">;

export function isActive(run: Pick<Run, "state">): boolean {
  return run.state === "queued" || run.state === "starting" || run.state === "running";
}

/**
 * Return what to expect of a run without, for example, replays: `comes` says when the next one appears, `never` that
 * the run ended without any.
 */
export function availabilityText(
  run: Pick<Run, "state" | "origin" | "executor">,
  comes: string,
  never: string,
): string {
  if (run.state === "paused" && isReported(run)) return never;
  if (run.state === "paused") return `This run is paused; resume it to continue. ${comes}`;
  if (run.state === "queued") {
    return `This run is waiting for ${run.executor === "workers" ? "a worker" : "its job"}. ${comes}`;
  }
  return isActive(run) ? comes : never;
}

/** Return the state or the pending action in one word: a run is "Stopping" until it has stopped. */
export function stateName(run: StateOf): string {
  if (isActive(run) && run.desired === "stop") return "Stopping";
  if (isActive(run) && run.desired === "pause") return "Pausing";
  return STATE_NAMES[run.state];
}
