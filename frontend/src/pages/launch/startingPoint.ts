/** What the form begins with: a preset, another run's configuration, or the defaults. */

import type { ConfigValue, Environment, Preset, Run, RunConfig } from "@/api/types";
import { sameValue } from "./draft";
import { defaultsOf, type Variant, variantFor } from "./schema";

/** What changes are marked against. */
export interface Reference {
  title: string;
  values: RunConfig;
  /** The preset that it is, if it is one. */
  preset: string | null;
}

export interface StartingPoint {
  /** Changes whenever the form has to begin anew. */
  key: string;
  values: RunConfig;
  reference: Reference;
}

function differences(a: RunConfig, b: RunConfig): number {
  return Object.keys({ ...a, ...b }).filter((name) => !sameValue(a[name], b[name])).length;
}

/** The preset of its method that differs least from a configuration. */
export function nearestPreset(presets: readonly Preset[], config: RunConfig): Preset | undefined {
  const [nearest] = presets
    .filter((preset) => preset.config["algorithm"] === config["algorithm"])
    .toSorted((a, b) => differences(a.config, config) - differences(b.config, config));
  return nearest;
}

const ofPreset = ({ name, title, config }: Preset): Reference => ({ title, values: config, preset: name });

const ofDefaults = (variant: Variant): Reference => ({
  title: `the defaults of ${variant.title}`,
  values: defaultsOf(variant),
  preset: null,
});

export function presetsOf(presets: readonly Preset[], { algorithm }: Variant): Preset[] {
  return presets.filter((preset) => preset.config["algorithm"] === algorithm);
}

/** Where a method is best begun for a game: at its preset for that game, else for one that looks alike, else for any. */
export function referenceFor(
  variant: Variant,
  presets: readonly Preset[],
  environments: readonly Environment[],
  env: ConfigValue | undefined,
): Reference {
  const kindOf = (id: ConfigValue | undefined) => environments.find((known) => known.id === id)?.kind;
  const own = presetsOf(presets, variant);
  const found =
    own.find((preset) => preset.config["env"] === env) ??
    own.find((preset) => kindOf(preset.config["env"]) === kindOf(env)) ??
    own[0];
  return found ? ofPreset(found) : ofDefaults(variant);
}

/** What a page's address names: a preset or a method; the first preset where it names neither. */
export interface Wanted {
  preset: string | null;
  method: string | null;
}

export const keyOf = ({ preset, values }: Reference): string =>
  preset === null ? `method ${String(values["algorithm"])}` : `preset ${preset}`;

export function startingPoint(
  presets: readonly Preset[],
  variants: readonly Variant[],
  wanted: Wanted,
  like: Run | undefined,
): StartingPoint {
  if (like) {
    const nearest = nearestPreset(presets, like.config);
    const reference = nearest
      ? ofPreset(nearest)
      : { title: `run ${like.id}`, values: like.config, preset: null };
    return { key: `run ${like.id}`, values: like.config, reference };
  }
  const method = wanted.method === null ? undefined : variantFor(variants, wanted.method);
  const named = presets.find((candidate) => candidate.name === wanted.preset);
  const reference = named || !method ? firstOf(named ?? presets[0], variants[0]) : ofDefaults(method);
  return { key: keyOf(reference), values: reference.values, reference };
}

function firstOf(preset: Preset | undefined, variant: Variant | undefined): Reference {
  if (preset) return ofPreset(preset);
  return variant ? ofDefaults(variant) : { title: "the defaults", values: {}, preset: null };
}
