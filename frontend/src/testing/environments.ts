import type { Environment } from "@/api/types";

/** A small environment that PAAC and A3C can learn; tests change what they are about. */
export function anEnvironment(id: string, changes: Partial<Environment> = {}): Environment {
  return {
    id,
    title: id.replace(/-v\d$/, ""),
    group: "Small",
    kind: "vector",
    frames_per_step: 1,
    algorithms: ["paac", "a3c"],
    unfit_because: "its actions are continuous",
    picture_file_id: null,
    ...changes,
  };
}
