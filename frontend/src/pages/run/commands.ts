/** Shell commands that launch a configuration again. */

import type { Preset, Run, RunConfig } from "@/api/types";
import { overridesOf } from "@/config-form/draft";
import { nearestPreset } from "@/config-form/reference";

/** Quote a word for a POSIX shell. */
export function quoteWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function shellCommand(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** Return the `arcadia train` command with the nearest preset and the changed settings. */
export function trainCommand(run: Pick<Run, "id" | "config">, presets: readonly Preset[]): string {
  const preset = nearestPreset(presets, run.config);
  const directory = ["--dir", `runs/like-${run.id}`];
  if (!preset) return shellCommand(["arcadia", "train", "config.json", ...directory]);
  const settings = Object.entries(overridesOf(run.config, preset.config)).flatMap(([name, value]) => [
    "--set",
    `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
  ]);
  return shellCommand(["arcadia", "train", "--preset", preset.name, ...settings, ...directory]);
}

/** Return the curl command that posts the configuration to this server. */
export function curlCommand(origin: string, config: RunConfig): string {
  const body = JSON.stringify({ config });
  return `curl ${quoteWord(`${origin}/api/v1/runs`)} -H 'Content-Type: application/json' -d ${quoteWord(body)}`;
}
