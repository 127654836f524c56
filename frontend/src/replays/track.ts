/** Track of a replay: the agent's values and probabilities per decision, and notable decisions. */

import type { MetricValue, Track } from "@/api/types";

/** A track with parsed numbers. The API sends NaN and infinities as strings. */
export interface Thoughts {
  head: Track["head"];
  picture: readonly number[];
  /** Index of the action, or the values of a continuous action. */
  action: readonly (number | readonly number[])[];
  numbers: readonly (readonly number[])[];
  value: readonly number[];
  obtained: readonly number[];
  reward: readonly number[];
  score: readonly number[];
  lives: readonly number[];
  lifeLost: readonly boolean[];
}

const plain = (values: readonly MetricValue[]): number[] => values.map(Number);

export function thoughtsOf({ life_lost, ...track }: Track): Thoughts {
  return {
    ...track,
    action: track.action.map((taken) => (Array.isArray(taken) ? plain(taken) : taken)),
    numbers: track.numbers.map(plain),
    value: plain(track.value),
    obtained: plain(track.obtained),
    reward: plain(track.reward),
    score: plain(track.score),
    lifeLost: life_lost,
  };
}

/** Return the last decision at or before a picture, or the first decision. */
export function decisionAt(pictures: readonly number[], picture: number): number {
  let [low, high] = [0, pictures.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((pictures[middle] ?? Infinity) <= picture) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Return the nearest decision after (1) or before (-1) another that satisfies the predicate, or null. */
export function nextWhere(
  holds: (decision: number) => boolean,
  { from, by, decisions }: { from: number; by: 1 | -1; decisions: number },
): number | null {
  for (let decision = from + by; decision >= 0 && decision < decisions; decision += by) {
    if (holds(decision)) return decision;
  }
  return null;
}

/** Return the absolute difference between the return and the value estimate. */
export const surpriseAt = ({ obtained, value }: Thoughts, decision: number): number =>
  (obtained[decision] ?? NaN) - (value[decision] ?? NaN);

/** Return the decision with the largest difference between estimate and return, or null if there is none. */
export function greatestSurprise(thoughts: Thoughts): number | null {
  let [found, size]: [number | null, number] = [null, 0];
  for (let decision = 0; decision < thoughts.picture.length; decision += 1) {
    const here = Math.abs(surpriseAt(thoughts, decision));
    if (here > size && Number.isFinite(here)) [found, size] = [decision, here];
  }
  return found;
}

/** Return the decisions that the step buttons lead to, or null for missing ones. */
export interface Jumps {
  previousReward: number | null;
  nextReward: number | null;
  nextLostLife: number | null;
  greatestSurprise: number | null;
}

export function jumpsFrom(thoughts: Thoughts, from: number): Jumps {
  const decisions = thoughts.picture.length;
  const rewarded = (decision: number) => (thoughts.reward[decision] ?? 0) !== 0;
  const lost = (decision: number) => thoughts.lifeLost[decision] ?? false;
  return {
    previousReward: nextWhere(rewarded, { from, by: -1, decisions }),
    nextReward: nextWhere(rewarded, { from, by: 1, decisions }),
    nextLostLife: nextWhere(lost, { from, by: 1, decisions }),
    greatestSurprise: greatestSurprise(thoughts),
  };
}

/** Return a description of how a track's returns are computed. */
export function howCounted(head: Thoughts["head"]): string {
  const { gamma, clip_rewards, life_loss_ends_episode, bootstraps = true, ended } = head;
  const goesOn = ended === "unfinished" || (ended === "cut off" && bootstraps);
  const parts = [
    `Return obtained: rewards${clip_rewards ? " clipped to ±1," : ""} discounted by γ = ${gamma}`,
    life_loss_ends_episode ? " up to a lost life" : "",
    goesOn ? "; after the last frame, the agent's own estimate." : ".",
    ended === "unfinished"
      ? " The recording stopped before the episode ended. Its score covers only the recorded part."
      : "",
  ];
  return parts.join("");
}
