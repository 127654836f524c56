/** Texts that describe evaluations. */

import type { Acting, Evaluation } from "@/api/types";
import { formatInterval, plural, score } from "@/ui/format";

/** Return the name of a way of acting: "sampled", "ε-greedy (0.05)". */
export function formatActing({ name, epsilon }: Acting): string {
  return name === "epsilon-greedy" ? `ε-greedy (${epsilon ?? 0})` : name;
}

const ACTING_DESCRIPTIONS: Record<Acting["name"], string> = {
  sampled: "samples each action from the policy",
  greedy: "takes the action with the highest probability or value",
  "epsilon-greedy": "takes the action with the highest value, or with probability ε a random action",
  random: "takes random actions",
};

/** Return what the agent does, as a verb phrase. */
export const describeActing = ({ name }: Pick<Acting, "name">) => ACTING_DESCRIPTIONS[name];

/** Return "no-op-5min, 30 episodes". The protocol "episodes" is not repeated. */
export function describePlayed({
  protocol,
  episodes_total,
}: Pick<Evaluation, "protocol" | "episodes_total">) {
  const played = plural(episodes_total, "episode");
  return protocol === "episodes" ? played : `${protocol}, ${played}`;
}

/** Format the mean and its interval: "19.8 (95 % 19.3 to 20.3)". */
export function formatMean({ mean, interval }: Pick<Evaluation, "mean" | "interval">): string {
  return interval === null ? score(mean) : `${score(mean)} (95 % ${formatInterval(interval)})`;
}
