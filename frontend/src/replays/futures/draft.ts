/** Draft of the form for futures, its checks, and the API request. */

import type { FuturesRequest } from "@/api/types";
import { isWholeBetween } from "@/config-form/numbers";
import { exact } from "@/ui/format";

export type Until = NonNullable<FuturesRequest["until"]>;

/** An action that is taken several times in a row. */
export interface Repeated {
  action: string;
  times: number;
}

export interface Draft {
  futures: string;
  horizon: string;
  until: Until;
  temperature: string;
  /** Null for the default: yes unless there are many futures. */
  videos: boolean | null;
  forcing: "none" | "sequence" | "each";
  sequence: readonly Repeated[];
  agent: "same" | "other";
  run: number | null;
  /** best, newest, an alias, or the id of a checkpoint. */
  checkpoint: string;
}

export const MIN_FUTURES = 8;
export const MAX_FUTURES = 256;
const MAX_HORIZON = 10_000;
const USUAL_FUTURES = 64;
export const [MIN_TEMPERATURE, MAX_TEMPERATURE] = [0.01, 100];
/** Maximum number of forced actions. */
export const MAX_FORCED = 200;

export const FIELDS = [
  "futures",
  "horizon",
  "until",
  "temperature",
  "first",
  "run_id",
  "checkpoint",
] as const;
export type Problems = Partial<Record<(typeof FIELDS)[number], string>>;

export const createDraft = (run: number): Draft => ({
  futures: String(USUAL_FUTURES),
  horizon: "200",
  until: "horizon",
  temperature: "1",
  videos: null,
  forcing: "none",
  sequence: [],
  agent: "same",
  run,
  checkpoint: "best",
});

export const countForced = (sequence: readonly Repeated[]) =>
  sequence.reduce((sum, { times }) => sum + times, 0);

/** Return what the server would refuse, by field. */
export function findProblems({
  futures,
  horizon,
  temperature,
  forcing,
  sequence,
  agent,
  run,
}: Draft): Problems {
  const problems: Problems = {};
  if (!isWholeBetween(futures, MIN_FUTURES, MAX_FUTURES))
    problems.futures = `Enter a whole number from ${MIN_FUTURES} to ${MAX_FUTURES}.`;
  if (!isWholeBetween(horizon, 1, MAX_HORIZON))
    problems.horizon = `Enter a whole number from 1 to ${exact(MAX_HORIZON)}.`;
  const heat = Number(temperature);
  if (temperature.trim() === "" || !(heat >= MIN_TEMPERATURE && heat <= MAX_TEMPERATURE))
    problems.temperature = `Enter a number from ${MIN_TEMPERATURE} to ${MAX_TEMPERATURE}.`;
  if (forcing === "sequence" && sequence.length === 0) problems.first = "Add at least one action.";
  if (agent === "other" && run === null) problems.run_id = "Pick a run.";
  return problems;
}

/** Return true if the futures get videos. */
export const hasVideos = ({ videos, futures }: Draft) => videos ?? Number(futures) <= USUAL_FUTURES;

export function toRequest(draft: Draft, decision: number): FuturesRequest {
  const { forcing, sequence, agent, run, checkpoint } = draft;
  return {
    decision,
    futures: Number(draft.futures),
    horizon: Number(draft.horizon),
    until: draft.until,
    temperature: Number(draft.temperature),
    record_videos: hasVideos(draft),
    first:
      forcing === "sequence"
        ? sequence.flatMap(({ action, times }) => Array.from({ length: times }, () => action))
        : [],
    each_action: forcing === "each",
    agent:
      agent === "other" && run !== null
        ? { run_id: run, checkpoint: /^\d+$/.test(checkpoint) ? Number(checkpoint) : checkpoint }
        : null,
  };
}

/** Return the sequence with equal neighbors merged: LEFT, LEFT, FIRE is LEFT × 2, FIRE. */
export function mergeRepeated(actions: readonly Repeated[]): Repeated[] {
  const merged: Repeated[] = [];
  for (const { action, times } of actions) {
    const last = merged.at(-1);
    if (last?.action === action) last.times += times;
    else merged.push({ action, times });
  }
  return merged;
}

export const formatRepeated = ({ action, times }: Repeated) => (times > 1 ? `${action} × ${times}` : action);
