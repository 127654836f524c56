import type { Preset } from "@/api/types";

/** A preset with a name and a configuration. */
export function aPreset(name: string, config: Preset["config"], changes: Partial<Preset> = {}): Preset {
  return { name, title: name, shows: "", source: "", method: "PAAC", config, differences: [], ...changes };
}
