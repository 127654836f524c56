/** What the launch form begins with: a preset, another run's configuration, or the defaults. */

import type { ConfigValue, Environment, Preset, Run } from "@/api/types";
import { keyOf, nearestPreset, type Reference, type StartingPoint } from "@/config-form/reference";
import { defaultsOf, type Variant, variantFor } from "@/config-form/schema";

const ofPreset = ({ name, title, config }: Preset): Reference => ({ title, values: config, preset: name });

const ofDefaults = (variant: Variant): Reference => ({
  title: `the defaults of ${variant.title}`,
  values: defaultsOf(variant),
  preset: null,
});

function presetsOf(presets: readonly Preset[], { algorithm }: Variant): Preset[] {
  return presets.filter((preset) => preset.config["algorithm"] === algorithm);
}

/** Choose a method's preset for this game, else for a game of the same kind, else for any; without presets its defaults. */
export function referenceFor(
  variant: Variant,
  presets: readonly Preset[],
  environments: readonly Environment[],
  env: ConfigValue | undefined,
): Reference {
  const familyOf = (id: ConfigValue | undefined) =>
    environments.find((known) => known.id === id)?.family.name;
  const own = presetsOf(presets, variant);
  const found =
    own.find((preset) => preset.config["env"] === env) ??
    own.find((preset) => familyOf(preset.config["env"]) === familyOf(env)) ??
    own[0];
  return found ? ofPreset(found) : ofDefaults(variant);
}

/** The preset or method that the address names; with neither, the form begins with the first preset. */
export interface Wanted {
  preset: string | null;
  method: string | null;
}

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

/** Begin in this game: with its own preset, else with the first for a game of the same kind. */
export function startingPointIn(
  env: string,
  presets: readonly Preset[],
  environments: readonly Environment[],
): StartingPoint | null {
  const familyOf = (id: ConfigValue | undefined) =>
    environments.find((known) => known.id === id)?.family.name;
  const found =
    presets.find((preset) => preset.config["env"] === env) ??
    presets.find((preset) => familyOf(preset.config["env"]) === familyOf(env));
  if (!found || familyOf(env) === undefined) return null;
  const reference = ofPreset(found);
  return inEnvironment({ key: "", values: reference.values, reference }, env);
}

/** The same start in this environment. */
export const inEnvironment = ({ values, reference }: StartingPoint, env: ConfigValue): StartingPoint => ({
  key: keyOf(reference, env),
  values: { ...values, env },
  reference,
});

function firstOf(preset: Preset | undefined, variant: Variant | undefined): Reference {
  if (preset) return ofPreset(preset);
  return variant ? ofDefaults(variant) : { title: "the defaults", values: {}, preset: null };
}
