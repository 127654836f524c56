/** Sentences about futures. */

import type { Challenge, FuturesDocument, FuturesSummary, KeptGame } from "@/api/types";
import {
  capitalize,
  decimalsFor,
  exact,
  formatDecimals,
  formatInterval,
  plural,
  score,
  short,
} from "@/ui/format";
import type { PlayableReplay } from "../places";
import { formatRepeated, mergeRepeated } from "./draft";

const widthOf = ([low, high]: readonly [number, number]) => high - low;

type Estimate = Pick<FuturesDocument, "mean" | "interval">;

/** Format a mean with its interval: "0.61 (95 % 0.55 to 0.67)". */
export function formatEstimate({ mean, interval }: Estimate): string {
  if (!interval) return score(mean);
  if (widthOf(interval) === 0) return `${score(mean)} (all equal)`;
  return `${formatDecimals(mean, decimalsFor(widthOf(interval)))} (95 % ${formatInterval(interval)})`;
}

/** Return a list of actions in short: "LEFT × 10, FIRE". */
export const formatActions = (names: readonly string[]) =>
  mergeRepeated(names.map((action) => ({ action, times: 1 })))
    .map(formatRepeated)
    .join(", ");

/**
 * Return the conclusion about the critic. It did not foresee forced actions or another temperature, so such
 * futures are only compared with V. Futures that end in the critic's own estimate show an error of V only if that estimate is right.
 */
export function conclude(document: FuturesDocument): string {
  const { value, first, temperature, count, bootstrapped } = document;
  if (!document.interval) return "Too few futures differ for an interval.";
  const [low, high] = document.interval;
  if (low === high) return "All futures have the same return, so they have no interval.";
  const altered = first.length > 0 || temperature !== 1;
  if (value >= low && value <= high)
    return altered ? "No difference from V is shown." : "No error of the critic is shown.";
  const owner = altered ? "the critic's" : "its";
  const condition =
    bootstrapped.count > 0
      ? ` if ${owner} estimates at the end of ${bootstrapped.count} of ${count} futures are right`
      : "";
  if (altered) return `These futures return ${value < low ? "more" : "less"} than V${condition}.`;
  return `The critic is too ${value < low ? "low" : "high"}${condition}.`;
}

/**
 * Return the result in a sentence: "V = 0.53. 64 futures average 0.61 (95 % 0.55 to 0.67)." It names the agent
 * that acts unless it is the replay's.
 */
export function summarize(document: FuturesDocument, agent: string | null = null): string {
  const { value, count, first, interval } = document;
  const forced = first.length > 0 ? ` that begin with ${formatActions(first)}` : "";
  const estimate = interval ? formatDecimals(value, decimalsFor(widthOf(interval))) : score(value);
  const by = agent === null ? "" : ` by ${agent}`;
  return `V = ${estimate}. ${plural(count, "future")}${by}${forced} average ${formatEstimate(document)}.`;
}

/** Return how many futures lost a life and when: "23 of 64, half within 40 decisions". */
export function describeLostLives({ futures }: FuturesDocument): string | null {
  const after = futures.flatMap(({ life_lost_after }) => life_lost_after ?? []).sort((a, b) => a - b);
  const middle = after[Math.floor((after.length - 1) / 2)];
  if (middle === undefined) return null;
  return `${after.length} of ${futures.length}, half within ${plural(middle, "decision")}`;
}

const UNTIL = {
  horizon: "",
  reward: " until the next reward",
  life: " until a lost life",
  outcome: " until the next reward or lost life",
};

/** Return the options of futures: "64 futures of up to 200 decisions, LEFT × 10 first". */
export function describeOptions(of: FuturesSummary): string {
  const { futures = 0, horizon = 0, until = "horizon" } = of;
  const size = `${futures} futures of up to ${plural(horizon, "decision")}${UNTIL[until]}`;
  return [size, ...listChanges(of)].join(", ");
}

/** Return how futures differ from the agent's own play. */
function listChanges({ first = [], each_action = false, temperature = 1 }: FuturesSummary): string[] {
  const parts = [];
  if (first.length > 0) parts.push(`${formatActions(first)} first`);
  if (temperature !== 1) parts.push(`temperature ${temperature}`);
  if (each_action) parts.push("each action first");
  return parts;
}

/** Return the name of futures in a comparison: "Run 3 at 2 k steps, LEFT × 10 first". */
export const nameForComparison = (of: FuturesSummary) =>
  [capitalize(describeAgent(of)), ...listChanges(of)].join(", ");

/** Return true if another agent than that of the replay acts in the futures. */
export const isByAnother = (of: FuturesSummary, { run_id, step }: PlayableReplay) =>
  of.agent_run_id !== run_id || of.agent_step !== step;

/** Return the agent that acts in the futures of another run or checkpoint. */
export const describeAgent = ({ agent_run_id, agent_step }: FuturesSummary) =>
  `run ${agent_run_id} at ${short(agent_step, "steps")}`;

/** Return your best score next to the agent's: "You: 3 (best of 2); agent from here: 1.2 ± 0.3". */
export function compareWithGames(
  { decision, score: { mean, interval } }: FuturesDocument,
  games: readonly KeptGame[],
): string {
  const same = games.flatMap(({ continued }) => (continued?.decision === decision ? continued : []));
  const best = same.reduce((before, game) => (Number(game.score) > Number(before.score) ? game : before));
  const you = best.agent_frames > 0 ? "You and the agent" : "You";
  const of = same.length > 1 ? ` (best of ${same.length})` : "";
  const width = interval ? widthOf(interval) : 0;
  const decimals = decimalsFor(width);
  const spread = decimals === null ? "" : ` ± ${formatDecimals(width / 2, decimals)}`;
  return `${you}: ${score(best.score)}${of}; agent from here: ${formatDecimals(mean, decimals)}${spread}`;
}

export const nameDecision = (decision: number) => `decision ${exact(decision + 1)}`;

/** E-value that shows a better action, as in `workers/arcadia_workers/contract/inference/losses.py`. */
const DECISIVE = 20;

/** Return the name of the action that is shown to be better than the taken one, or null. */
export const findBetter = (challenge: Challenge | null): string | null =>
  challenge?.is_better ? challenge.action : null;

/** Return the result of the test of another action in a sentence. */
export function describeChallenge({
  taken,
  action,
  pairs = 0,
  e_value = 1,
  loss,
  pairs_needed,
}: Challenge): string {
  if (action === null) return `No action had better outcomes than ${taken}, so none was tested.`;
  const tested = `${plural(pairs, "fresh pair")} of futures (e-value ${score(e_value)} of ${DECISIVE})`;
  if (loss)
    return `${action} is better than ${taken} by ${formatEstimate(loss)} up to the next reward or lost life: ${tested}, measured with ${loss.count} others.`;
  const more = pairs_needed
    ? ` About ${exact(pairs_needed)} pairs would show it if they continued as so far.`
    : "";
  return `No better action is shown. ${action} was tested against ${taken} with ${tested}.${more}`;
}
