/** What a configuration begins with, and what its changes are marked against. */

import type { ConfigValue, Preset, RunConfig } from "@/api/types";
import { type Draft, sameValue } from "./draft";

/** The values that changes are marked against. */
export interface Reference {
  title: string;
  values: RunConfig;
  /** The name of the preset, if the values are one. */
  preset: string | null;
}

export interface StartingPoint {
  /** A new key begins the form anew. */
  key: string;
  values: RunConfig;
  reference: Reference;
  /** Fields that begin with several values, as they are written. */
  typed?: Draft;
}

function differences(a: RunConfig, b: RunConfig): number {
  return Object.keys({ ...a, ...b }).filter((name) => !sameValue(a[name], b[name])).length;
}

/** Among the presets of the same method, the one that differs least. */
export function nearestPreset(presets: readonly Preset[], config: RunConfig): Preset | undefined {
  const [nearest] = presets
    .filter((preset) => preset.config["algorithm"] === config["algorithm"])
    .toSorted((a, b) => differences(a.config, config) - differences(b.config, config));
  return nearest;
}

/** The key under which a form begins with this reference, and with another environment than its own. */
export function keyOf({ preset, values }: Pick<Reference, "preset" | "values">, env?: ConfigValue): string {
  const key = preset === null ? `method ${String(values["algorithm"])}` : `preset ${preset}`;
  return env === undefined || env === values["env"] ? key : `${key} in ${String(env)}`;
}
