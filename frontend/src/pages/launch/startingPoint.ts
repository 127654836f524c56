/** Starting point of the launch form: a preset, another run's configuration, or the defaults. */

import type { ConfigValue, Environment, Preset, Run } from "@/api/types";
import { keyOf, type Reference, type StartingPoint } from "@/config-form/reference";
import { defaultsOf, type Variant, variantFor } from "@/config-form/schema";

const presetReference = ({ name, title, config }: Preset): Reference => ({
  title,
  values: config,
  preset: name,
});

const defaultsReference = (variant: Variant): Reference => ({
  title: `the defaults of ${variant.title}`,
  values: defaultsOf(variant),
  preset: null,
});

function presetsOf(presets: readonly Preset[], { algorithm }: Variant): Preset[] {
  return presets.filter((preset) => preset.config["algorithm"] === algorithm);
}

/**
 * Return a method's preset for this game, for a game of the same kind, or for any game. Without presets, return the
 * defaults.
 */
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
  return found ? presetReference(found) : defaultsReference(variant);
}

/** The preset or method in the URL. Without either, the form uses the first preset. */
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
    const reference = { title: `run ${like.id}`, values: like.config, preset: null };
    return { key: `run ${like.id}`, values: like.config, reference };
  }
  const method = wanted.method === null ? undefined : variantFor(variants, wanted.method);
  const named = presets.find((candidate) => candidate.name === wanted.preset);
  const reference = named || !method ? firstOf(named ?? presets[0], variants[0]) : defaultsReference(method);
  return { key: keyOf(reference), values: reference.values, reference };
}

/** Return the starting point for this game: its own preset, or the first for a game of the same kind. */
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
  const reference = presetReference(found);
  return inEnvironment({ key: "", values: reference.values, reference }, env);
}

/** Return the starting point with another environment. */
export const inEnvironment = ({ values, reference }: StartingPoint, env: ConfigValue): StartingPoint => ({
  key: keyOf(reference, env),
  values: { ...values, env },
  reference,
});

function firstOf(preset: Preset | undefined, variant: Variant | undefined): Reference {
  if (preset) return presetReference(preset);
  return variant ? defaultsReference(variant) : { title: "the defaults", values: {}, preset: null };
}
