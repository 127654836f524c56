/** The starting point of a configuration and the reference for its changes. */

import type { ConfigValue, Preset, RunConfig } from "@/api/types";
import { type Draft, sameValue } from "./draft";

/** Values that changes are compared with. */
export interface Reference {
  title: string;
  values: RunConfig;
  /** Name of the preset, if the values are a preset's. */
  preset: string | null;
}

export interface StartingPoint {
  /** The form starts over when the key changes. */
  key: string;
  values: RunConfig;
  reference: Reference;
  /** Fields that start with several values, as text. */
  typed?: Draft;
}

function differences(a: RunConfig, b: RunConfig): number {
  return Object.keys({ ...a, ...b }).filter((name) => !sameValue(a[name], b[name])).length;
}

/** Return the preset of the same method with the fewest differences. */
export function nearestPreset(presets: readonly Preset[], config: RunConfig): Preset | undefined {
  const [nearest] = presets
    .filter((preset) => preset.config["algorithm"] === config["algorithm"])
    .toSorted((a, b) => differences(a.config, config) - differences(b.config, config));
  return nearest;
}

/** Return the key of a form with this reference, and with another environment if given. */
export function keyOf({ preset, values }: Pick<Reference, "preset" | "values">, env?: ConfigValue): string {
  const key = preset === null ? `method ${String(values["algorithm"])}` : `preset ${preset}`;
  return env === undefined || env === values["env"] ? key : `${key} in ${String(env)}`;
}
