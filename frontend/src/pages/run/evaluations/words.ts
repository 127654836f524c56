/** Evaluations in words. */

import type { Acting, Evaluation, MetricValue } from "@/api/types";
import { plural, score } from "@/ui/format";

export const isUnderWay = ({ state }: Pick<Evaluation, "state">) => state === "queued" || state === "running";

/** Why an evaluation counts no longer. */
export const LEFT_BEHIND = "The run went back behind this checkpoint and trained its steps again.";

/** How an agent acts, by its name alone: "sampled", "ε-greedy (0.05)". */
export function actingName({ name, epsilon }: Acting): string {
  return name === "epsilon-greedy" ? `ε-greedy (${epsilon ?? 0})` : name;
}

const ACTING: Record<Acting["name"], string> = {
  sampled: "draws each action from the policy",
  greedy: "takes the action of the highest probability or value",
  "epsilon-greedy": "takes the action of the highest value, but a share ε of them at random",
  random: "takes every action at random",
};

/** What an agent does that acts so. */
export const actingText = ({ name }: Pick<Acting, "name">) => ACTING[name];

/** "no-op-5min, 30 episodes"; the protocol "episodes" is not said twice. */
export function playedWords({ protocol, episodes_total }: Pick<Evaluation, "protocol" | "episodes_total">) {
  const played = plural(episodes_total, "episode");
  return protocol === "episodes" ? played : `${protocol}, ${played}`;
}

/** "17.2 to 21.0" of an interval. */
export const intervalText = ([low, high]: readonly [MetricValue, MetricValue]) =>
  `${score(low)} to ${score(high)}`;

/** "19.8 ± 0.6": the mean and its standard error. */
export function meanWords({ mean, standard_error }: Pick<Evaluation, "mean" | "standard_error">): string {
  return standard_error === null ? score(mean) : `${score(mean)} ± ${score(standard_error)}`;
}

/** A sentence of the server that begins in the middle of one. */
export const sentence = (words: string) =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
