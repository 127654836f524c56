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

/** The environments whose presets are shown: the chosen one, or else those of the same kind. */
export interface Near {
  env: string;
  isLike: (env: string) => boolean;
}

/**
 * Return the presets of all methods that match all words. Without words, return one method's presets for the chosen
 * environment, or else those for similar environments. Presets tuned for Arcadia come first.
 */
export function foundPresets(
  presets: readonly Preset[],
  text: string,
  algorithm: string | undefined,
  titleOf: (env: string) => string,
  near: Near,
): PresetGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const own = presets.filter(({ config }) => config["algorithm"] === algorithm);
  const exact = own.filter(({ config }) => config["env"] === near.env);
  const matching = exact.length > 0 ? exact : own.filter(({ config }) => near.isLike(String(config["env"])));
  const searched = presets.filter((preset) => {
    const env = String(preset.config["env"]);
    const normalized = [preset.name, preset.title, preset.method, env, titleOf(env)].join(" ").toLowerCase();
    return words.every((word) => normalized.includes(word));
  });
  const groups = new Map<string, Preset[]>();
  const rank = (preset: Preset) =>
    Number(preset.config["env"] !== near.env) * 2 + Number(originOf(preset) !== null);
  const found = words.length === 0 ? matching : searched;
  for (const preset of found.toSorted((a, b) => rank(a) - rank(b)))
    groups.set(preset.method, [...(groups.get(preset.method) ?? []), preset]);
  return [...groups].map(([method, members]) => ({ method, members }));
}
