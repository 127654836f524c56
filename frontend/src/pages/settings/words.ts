/** Words about audit entries and sessions. */

import type { AuditEntry } from "@/api/types";
import { exactTime } from "@/ui/format";

const MAX_LENGTH = 80;
/** Settings whose changes the action names. */
const IN_ACTION = ["desired", "archived_at", "revoked_at", "disabled_at"];
const TIME = /^\d{4}-\d\d-\d\dT/;

/** Return a line for each changed setting of an entry: "name: A → B". */
export function describeChange({ before, after }: Pick<AuditEntry, "before" | "after">): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .filter((name) => !IN_ACTION.includes(name))
    .map((name) => {
      const [old, fresh] = [before?.[name], after?.[name]];
      const label = name.replaceAll("_", " ");
      if (before === null) return `${label}: ${words(fresh)}`;
      return after === null ? `${label}: ${words(old)}` : `${label}: ${words(old)} → ${words(fresh)}`;
    });
}

function words(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "string" && TIME.test(value)) return exactTime(value);
  if (Array.isArray(value)) return value.join(", ") || "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const;

/** Return a short name of a browser from its user agent: Firefox on Linux. */
export function browserName(agent: string): string {
  const browser = BROWSERS.find(([part]) => agent.includes(part))?.[1];
  const system = SYSTEMS.find(([part]) => agent.includes(part))?.[1];
  if (!browser) return agent.slice(0, 40) || "Unknown browser";
  return system ? `${browser} on ${system}` : browser;
}
