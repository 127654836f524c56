import type { Checkpoint, Replay } from "@/api/types";

/** A checkpoint that was not pruned. */
export function aCheckpoint(id: number, step: number, changes: Partial<Checkpoint> = {}): Checkpoint {
  return {
    id,
    step,
    frames: step * 4,
    attempt: 1,
    available: true,
    weights_only: false,
    best: false,
    best_by: null,
    bytes: 2 ** 20,
    created_at: "2026-01-01T10:30:00Z",
    file_id: id + 100,
    kept_as: "spread",
    pinned: false,
    aliases: [],
    return_mean: 12.5,
    ...changes,
  };
}

/** A replay that was not pruned. */
export function aReplay(id: number, step: number, changes: Partial<Replay> = {}): Replay {
  return {
    id,
    run_id: 1,
    step,
    frames: step * 4,
    attempt: 1,
    created_at: "2026-01-01T10:30:00Z",
    episode_return: id,
    file_id: id + 100,
    poster_file_id: id + 200,
    seen_file_id: null,
    track_file_id: null,
    pinned: false,
    saliency_asked: false,
    actions: { simulate: null, play: null, saliency: null, start_points: null, edit: null },
    length: 600,
    seconds: 20,
    ...changes,
  };
}
