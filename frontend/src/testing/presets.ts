import type { Preset } from "@/api/types";

/** A preset by its name and configuration; tests change what they are about. */
export function aPreset(name: string, config: Preset["config"], changes: Partial<Preset> = {}): Preset {
  return { name, title: name, shows: "", source: "", method: "PAAC", config, differences: [], ...changes };
}
