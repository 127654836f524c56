/** Which replays are looked at: videos in the order of training, a place on that line for every panel. */

import type { Video } from "@/api/types";

/** A replay whose file is still there. */
export type Replay = Video & { file_id: number };

export function inTrainingOrder(videos: readonly Video[]): Replay[] {
  const kept = videos.filter((video): video is Replay => video.file_id !== null);
  return kept.sort((a, b) => a.step - b.step || a.id - b.id);
}

export function newestFirst(videos: readonly Video[]): Replay[] {
  return inTrainingOrder(videos).reverse();
}

/** Places for so many panels, spread from the first replay to the newest. */
export function spread(panels: number, videos: number): number[] {
  if (videos === 0) return [];
  if (panels === 1) return [videos - 1];
  return Array.from({ length: panels }, (_, i) => Math.round((i * (videos - 1)) / (panels - 1)));
}

/** The place of the replay that is nearest to this step of training. */
export function placeAt(videos: readonly Replay[], step: number): number {
  const far = videos.map((video) => Math.abs(video.step - step));
  return far.indexOf(Math.min(...far));
}

/** A step to the left or right, never off the line. */
export function stepped(place: number, by: number, videos: number): number {
  return Math.min(Math.max(place + by, 0), Math.max(videos - 1, 0));
}

export const idsOf = (videos: readonly Replay[]): number[] => videos.map(({ id }) => id);
