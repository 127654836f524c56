/** What an agent thought in a replay, decision by decision, and where in it something happened. */

import type { MetricValue, Track } from "@/api/types";

/** A track whose numbers are numbers: NaN and the infinities travel as words. */
export interface Thoughts {
  head: Track["head"];
  picture: readonly number[];
  /** The number of the action in the head's names, or the numbers of a continuous one. */
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

/** The last decision that was made at or before a picture; the first until then. */
export function decisionAt(pictures: readonly number[], picture: number): number {
  let [low, high] = [0, pictures.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((pictures[middle] ?? Infinity) <= picture) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The nearest decision after (1) or before (-1) one at which something holds; null where there is none. */
export function nextWhere(
  holds: (decision: number) => boolean,
  { from, by, decisions }: { from: number; by: 1 | -1; decisions: number },
): number | null {
  for (let decision = from + by; decision >= 0 && decision < decisions; decision += by) {
    if (holds(decision)) return decision;
  }
  return null;
}

/** How far what came was from what was expected. */
export const surpriseAt = ({ obtained, value }: Thoughts, decision: number): number =>
  (obtained[decision] ?? NaN) - (value[decision] ?? NaN);

/** The decision after which things went most differently from the estimate; null where no number says so. */
export function greatestSurprise(thoughts: Thoughts): number | null {
  let [found, size]: [number | null, number] = [null, 0];
  for (let decision = 0; decision < thoughts.picture.length; decision += 1) {
    const here = Math.abs(surpriseAt(thoughts, decision));
    if (here > size && Number.isFinite(here)) [found, size] = [decision, here];
  }
  return found;
}

/** The decisions that a button leads to from one of them; null for what is not there. */
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

/** How the returns of a track are counted, in words. */
export function howCounted(head: Thoughts["head"]): string {
  const { gamma, clip_rewards, life_loss_ends_episode, bootstraps = true, ended } = head;
  const goesOn = ended === "unfinished" || (ended === "cut off" && bootstraps);
  const parts = [
    `Return obtained: rewards${clip_rewards ? " clipped to ±1," : ""} discounted by γ = ${gamma}`,
    life_loss_ends_episode ? " up to a lost life" : "",
    goesOn ? "; after the last picture it goes on with the agent's own estimate." : ".",
    ended === "unfinished"
      ? " The film was cut before the episode ended: its score is of what it shows."
      : "",
  ];
  return parts.join("");
}
