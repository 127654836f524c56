/** Shell commands that launch a configuration again. */

import type { ConfigValue, Preset, Run, RunChanges, RunConfig } from "@/api/types";
import { overridesOf } from "@/config-form/draft";
import { nearestPreset } from "@/config-form/reference";

/** The label of runs that `arcadia run` logged. */
const ARCADIA_RUN_LABEL = "Command";

/** Quote a word for a POSIX shell. */
export function quoteWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function shellCommand(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** Return how to start the script of a run again. A command that `arcadia run` logged logs nothing without it. */
export function rerunCommands(
  run: Pick<Run, "origin" | "origin_label" | "command" | "reported_key">,
): { title: string; command: string }[] {
  const command = run.command ?? [];
  if (run.origin === "reported" && run.origin_label === ARCADIA_RUN_LABEL && command.length > 0) {
    const key = run.reported_key ?? "";
    return [
      {
        title: "Start the command as a new run",
        command: shellCommand(["arcadia", "run", "--", ...command]),
      },
      {
        title: "Start the command and continue this run",
        command: shellCommand(["arcadia", "run", "--id", key, "--", ...command]),
      },
    ];
  }
  const start = { title: "Start the script", command: shellCommand(command) };
  const resume = {
    title: "Resume this run in the script",
    command: `arcadia.init(id=${JSON.stringify(run.reported_key)})`,
  };
  return [...(command.length > 0 ? [start] : []), ...(run.origin === "reported" ? [resume] : [])];
}

/** Return the `arcadia train` command with the nearest preset, other settings, and changes during training. */
export function trainCommand(
  run: Pick<Run, "id" | "config">,
  presets: readonly Preset[],
  changes?: Pick<RunChanges, "items" | "start_config">,
): string {
  const config = changes?.start_config ?? run.config;
  const preset = nearestPreset(presets, config);
  const rest = [...changeOptions(changes?.items ?? []), "--dir", `runs/like-${run.id}`];
  if (!preset) return shellCommand(["arcadia", "train", "config.json", ...rest]);
  const settings = Object.entries(overridesOf(config, preset.config)).flatMap(([name, value]) => [
    "--set",
    assignment(name, value),
  ]);
  return shellCommand(["arcadia", "train", "--preset", preset.name, ...settings, ...rest]);
}

const assignment = (name: string, value: ConfigValue) =>
  `${name}=${typeof value === "object" ? JSON.stringify(value) : String(value)}`;

/** Return an option for each field that changed during training. */
function changeOptions(changes: RunChanges["items"]): string[] {
  return changes.flatMap(({ applied_step, fields }) =>
    applied_step === null
      ? []
      : Object.entries(fields).flatMap(([name, value]) => [
          "--change",
          `${applied_step}:${assignment(name, value)}`,
        ]),
  );
}

/** Return the curl command that posts the configuration to this server. */
export function curlCommand(origin: string, config: RunConfig): string {
  const body = JSON.stringify({ config });
  return `curl ${quoteWord(`${origin}/api/v1/runs`)} -H 'Content-Type: application/json' -d ${quoteWord(body)}`;
}
