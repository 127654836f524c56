/** What the form begins with: a preset, another run's configuration, or the defaults. */

import type { Preset, Run, RunConfig } from "@/api/types";
import { defaultsOf, type Variant } from "./schema";

export interface StartingPoint {
  /** Changes whenever the form has to begin anew. */
  key: string;
  values: RunConfig;
  /** What changes are marked against. */
  reference: { title: string; values: RunConfig };
  preset: string | null;
}

function differences(a: RunConfig, b: RunConfig): number {
  return Object.keys({ ...a, ...b }).filter((name) => a[name] !== b[name]).length;
}

/** The preset that differs least from a configuration. */
export function nearestPreset(presets: readonly Preset[], config: RunConfig): Preset | undefined {
  const [nearest] = presets.toSorted((a, b) => differences(a.config, config) - differences(b.config, config));
  return nearest;
}

export function startingPoint(
  presets: readonly Preset[],
  variants: readonly Variant[],
  presetName: string | null,
  like: Run | undefined,
): StartingPoint {
  if (like) {
    const nearest = nearestPreset(presets, like.config);
    const reference = nearest
      ? { title: nearest.title, values: nearest.config }
      : { title: `run ${like.id}`, values: like.config };
    return { key: `run ${like.id}`, values: like.config, reference, preset: null };
  }
  const preset = presets.find((candidate) => candidate.name === presetName) ?? presets[0];
  if (preset) {
    const { name, title, config } = preset;
    return { key: `preset ${name}`, values: config, reference: { title, values: config }, preset: name };
  }
  const values = variants[0] ? defaultsOf(variants[0]) : {};
  return { key: "defaults", values, reference: { title: "the defaults", values }, preset: null };
}
