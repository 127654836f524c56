import type { Track } from "@/api/types";

type Changes = Partial<Omit<Track, "head">> & { head?: Partial<Track["head"]> };

/**
 * A track of ten decisions, one per four pictures at 20 pictures per second. A point is won at decision 2 and
 * lost at 6. A life is lost at 8. The value estimate is always 0.
 */
export function aTrack({ head, ...changes }: Changes = {}): Track {
  const decisions = Array.from({ length: 10 }, (_, decision) => decision);
  return {
    head: {
      env: "ALE/Breakout-v5",
      algorithm: "paac",
      checkpoint_step: 1000,
      checkpoint_sha256: "0".repeat(64),
      protocol: "no-op-5min",
      acting: { name: "sampled", epsilon: null },
      seed: 1,
      episode: 0,
      gamma: 0.99,
      clip_rewards: true,
      life_loss_ends_episode: true,
      numbers_kind: "policy",
      action_names: ["NOOP", "FIRE"],
      pictures: 40,
      pictures_per_second: 20,
      frames_per_action: 4,
      ended: "over",
      score: 0,
      ...head,
    },
    picture: decisions.map((decision) => decision * 4),
    action: decisions.map((decision) => decision % 2),
    numbers: decisions.map(() => [0.25, 0.75]),
    value: decisions.map(() => 0),
    obtained: [0.98, 0.99, 1, -0.97, -0.98, -0.99, -1, 0, 0, 0],
    reward: [0, 0, 1, 0, 0, 0, -1, 0, 0, 0],
    score: [0, 0, 0, 1, 1, 1, 1, 0, 0, 0],
    lives: [3, 3, 3, 3, 3, 3, 3, 3, 3, 2],
    life_lost: decisions.map((decision) => decision === 8),
    ...changes,
  };
}
