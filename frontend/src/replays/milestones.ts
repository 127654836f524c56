/** Replays that show how an agent learned: first, early, late and best. */

import type { Checkpoint } from "@/api/types";
import { type PlayableReplay, spread } from "./places";

export interface Milestone {
  title: string;
  replay: PlayableReplay;
}

const TITLES = ["First", "Early", "Late"];

/** Return four replays from the first to the one of the best checkpoint, or to the newest. Fewer show nothing. */
export function milestones(
  recorded: readonly PlayableReplay[],
  checkpoints: readonly Checkpoint[],
): Milestone[] {
  // The first replay of each checkpoint. People may have recorded more, which can start differently.
  const inOrder = recorded.filter(({ step }, place) => step !== recorded[place - 1]?.step);
  const best = checkpoints.find((checkpoint) => checkpoint.best);
  const ofBest = inOrder.findLastIndex((replay) => replay.step === best?.step);
  const isBestLast = ofBest >= TITLES.length;
  const end = isBestLast ? ofBest : inOrder.length - 1;
  if (end < TITLES.length) return [];
  const titles = [...TITLES, isBestLast ? "Best" : "Newest"];
  return spread(titles.length, end + 1).flatMap((place, panel) => {
    const [title, replay] = [titles[panel], inOrder[place]];
    return title && replay ? [{ title, replay }] : [];
  });
}
