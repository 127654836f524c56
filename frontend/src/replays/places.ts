/** Replay selection: replays in training order, and an index into them for each panel. */

import type { Replay } from "@/api/types";

/** A replay whose video still exists. */
export type PlayableReplay = Replay & { file_id: number };

export function inTrainingOrder(replays: readonly Replay[]): PlayableReplay[] {
  const kept = replays.filter((replay): replay is PlayableReplay => replay.file_id !== null);
  return kept.sort((a, b) => a.step - b.step || a.id - b.id);
}

export function newestFirst(replays: readonly Replay[]): PlayableReplay[] {
  return inTrainingOrder(replays).reverse();
}

/** Return an index for each panel, spread from the first replay to the newest. */
export function spread(panels: number, replays: number): number[] {
  if (replays === 0) return [];
  if (panels === 1) return [replays - 1];
  return Array.from({ length: panels }, (_, i) => Math.round((i * (replays - 1)) / (panels - 1)));
}

/** Return the index of the replay nearest to a training step. */
export function placeAt(replays: readonly PlayableReplay[], step: number): number {
  const far = replays.map((replay) => Math.abs(replay.step - step));
  return far.indexOf(Math.min(...far));
}

/** Return the index one step to the left or right, within bounds. */
export function stepped(place: number, by: number, replays: number): number {
  return Math.min(Math.max(place + by, 0), Math.max(replays - 1, 0));
}

export const idsOf = (replays: readonly PlayableReplay[]): number[] => replays.map(({ id }) => id);
