import type { Preset } from "@/api/types";

/** A preset with a name and a configuration. */
export function aPreset(name: string, config: Preset["config"], changes: Partial<Preset> = {}): Preset {
  const shown = { title: name, shows: "", source: "", origin: "tuned", method: "PAAC" } as const;
  return { name, ...shown, config, differences: [], ...changes };
}
