import type { Environment, EnvironmentFamily } from "@/api/types";

/** A family of small environments. */
export function anEnvironmentFamily(changes: Partial<EnvironmentFamily> = {}): EnvironmentFamily {
  return {
    name: "small",
    title: "Small",
    simulator: "gymnasium",
    openings: ["plain"],
    has_action_sets: false,
    has_adjustable_frame_skip: false,
    has_game_pages: false,
    steps_in_threads: false,
    is_pixel_art: false,
    aspect_ratio: 1.5,
    ...changes,
  };
}

export const ATARI = anEnvironmentFamily({
  name: "atari",
  title: "Atari",
  simulator: "ale",
  openings: ["no-ops", "starts"],
  has_action_sets: true,
  has_adjustable_frame_skip: true,
  has_game_pages: true,
  steps_in_threads: true,
  is_pixel_art: true,
  aspect_ratio: 160 / 210,
});

/** A small environment that PAAC and A3C can learn. */
export function anEnvironment(id: string, changes: Partial<Environment> = {}): Environment {
  return {
    id,
    title: id.replace(/-v\d$/, ""),
    group: "Small",
    family: anEnvironmentFamily(),
    frames_per_step: 1,
    algorithms: ["paac", "a3c"],
    unfit_because: "its actions are continuous",
    picture_file_id: null,
    ...changes,
  };
}
