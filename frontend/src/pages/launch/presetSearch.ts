import type { Preset } from "@/api/types";

interface PresetGroup {
  method: string;
  members: Preset[];
}

/** Search the presets of every method for all words; without words, take the presets of one method. */
export function foundPresets(
  presets: readonly Preset[],
  text: string,
  algorithm: string | undefined,
  titleOf: (env: string) => string,
): PresetGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = presets.filter((preset) => {
    if (words.length === 0) return preset.config["algorithm"] === algorithm;
    const env = String(preset.config["env"]);
    const written = [preset.name, preset.title, preset.method, env, titleOf(env)].join(" ").toLowerCase();
    return words.every((word) => written.includes(word));
  });
  const groups = new Map<string, Preset[]>();
  for (const preset of found) groups.set(preset.method, [...(groups.get(preset.method) ?? []), preset]);
  return [...groups].map(([method, members]) => ({ method, members }));
}
