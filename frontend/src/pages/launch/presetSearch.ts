import type { Preset } from "@/api/types";

interface PresetGroup {
  method: string;
  members: Preset[];
}

/** Return the source of a preset's settings, or null if they were tuned for Arcadia. */
export function originOf({ source }: Preset): "Paper" | "Code" | null {
  if (source === "" || source.startsWith("Tuned here")) return null;
  return /\b(19|20)\d\d\b/.test(source.slice(0, 40)) ? "Paper" : "Code";
}

/** The environments whose presets are shown: the chosen one, then those of the same kind. */
export interface Near {
  env: string;
  isLike: (env: string) => boolean;
}

/**
 * Return the presets of all methods that match all words. Without words, return one method's presets for the chosen
 * environment, then those for similar environments. Presets tuned for Arcadia come first.
 */
export function foundPresets(
  presets: readonly Preset[],
  text: string,
  algorithm: string | undefined,
  titleOf: (env: string) => string,
  near: Near,
): PresetGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = presets.filter((preset) => {
    const env = String(preset.config["env"]);
    if (words.length === 0)
      return preset.config["algorithm"] === algorithm && (env === near.env || near.isLike(env));
    const normalized = [preset.name, preset.title, preset.method, env, titleOf(env)].join(" ").toLowerCase();
    return words.every((word) => normalized.includes(word));
  });
  const groups = new Map<string, Preset[]>();
  const rank = (preset: Preset) =>
    Number(preset.config["env"] !== near.env) * 2 + Number(originOf(preset) !== null);
  for (const preset of found.toSorted((a, b) => rank(a) - rank(b)))
    groups.set(preset.method, [...(groups.get(preset.method) ?? []), preset]);
  return [...groups].map(([method, members]) => ({ method, members }));
}
