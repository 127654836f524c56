/** Suggested fixes for failed runs. */

import type { RunConfig } from "@/api/types";
import { shown } from "@/config-form/draft";
import { exact } from "@/ui/format";

export interface Fix {
  /** Settings to change. The run can then be launched with one click. */
  changes?: RunConfig;
  /** Fields to lower. The user chooses the values. */
  lower?: string[];
}

/** Fields that determine how much memory a run needs. */
const MEMORY_FIELDS = [
  "replay_frames",
  "num_envs",
  "num_actors",
  "num_agents",
  "num_learners",
  "num_replays",
  "num_workers",
  "batch_size",
  "t_max",
];

/** Fields that limit how much an update changes the weights. */
const UPDATE_SIZE_FIELDS = ["learning_rate", "max_grad_norm"];

/** Return the fix for a failure, or null if no setting fixes it. */
export function findFix(message: string, config: RunConfig): Fix | null {
  if (/memory|MemoryError/i.test(message)) {
    const present = MEMORY_FIELDS.filter((name) => typeof config[name] === "number");
    const named = present.filter((name) => new RegExp(`\\b${name}\\b`).test(message));
    const lower = named.length > 0 ? named : present;
    return lower.length > 0 ? { lower } : null;
  }
  if (/diverged/.test(message))
    return { lower: UPDATE_SIZE_FIELDS.filter((name) => typeof config[name] === "number") };
  if (config["device"] === "cuda" && /cuda|gpu/i.test(message)) return { changes: { device: "auto" } };
  return null;
}

type Titles = ReadonlyMap<string, string>;

const titleInText = (name: string, titles: Titles) =>
  lowerFirst(titles.get(name) ?? name.replaceAll("_", " "));

/** Keep abbreviations such as RMSProp in upper case. */
const lowerFirst = (title: string) =>
  /^[A-Z]{2}/.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);

/** Return the label of the button that applies a fix: "Launch again with device auto". */
export function fixLabel({ changes, lower = [] }: Fix, titles: Titles, runs = 1): string {
  const start = runs > 1 ? `Launch ${exact(runs)} again with` : "Launch again with";
  if (changes) {
    const settings = Object.entries(changes).map(
      ([name, value]) => `${titleInText(name, titles)} ${shown(value)}`,
    );
    return `${start} ${settings.join(", ")}`;
  }
  const [first = "", ...others] = lower;
  return `Launch again with lower ${others.length === 0 ? titleInText(first, titles) : "settings"}…`;
}

/** Return what a fix changes, for a tooltip: "Lower environments (32) or rollout length (5)". */
export function fixHint({ lower = [] }: Fix, titles: Titles, config: RunConfig): string | undefined {
  if (lower.length === 0) return undefined;
  return `Lower ${lower.map((name) => `${titleInText(name, titles)} (${shown(config[name])})`).join(" or ")}`;
}
