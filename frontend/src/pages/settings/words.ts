/** Words about audit entries and sessions. */

import type { AuditEntry, AuditFacets } from "@/api/types";
import { exactTime } from "@/ui/format";

/** Settings whose changes the action names. */
const IN_ACTION = ["desired", "archived_at", "revoked_at", "disabled_at"];
const NONE = "none";
const TIME = /^\d{4}-\d\d-\d\dT/;
/** Objects that have a page. */
const PAGES: Record<string, string> = {
  run: "runs",
  study: "studies",
  report: "reports",
  artifact: "artifacts",
};

type Values = Record<string, unknown>;

export interface Change {
  label: string;
  /** Null if the setting has no such value, as before an object was created. */
  before: string | null;
  after: string | null;
}

/** Return the changed settings of an entry with their old and new values in words. */
export function changesOf(
  { before, after }: Pick<AuditEntry, "before" | "after">,
  facets: AuditFacets,
): Change[] {
  const [old, fresh] = [flat(before ?? {}), flat(after ?? {})];
  const both = before !== null && after !== null;
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter(
      (name) => !IN_ACTION.includes(name) && !(both && isSame(old[name], fresh[name]) && isNested(name)),
    )
    .map((name) => ({
      label: name.replace(/_id$/, "").replaceAll("_", " "),
      before: before === null ? null : inWords(name, old[name], facets),
      after: after === null ? null : inWords(name, fresh[name], facets),
    }))
    .filter((change) => both || (change.before ?? change.after) !== NONE);
}

/** Return values with those of inner objects, such as "settings: cores". */
const flat = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.entries(value).map(([inner, one]) => [`${name}: ${inner}`, one as unknown])
        : [[name, value]],
    ),
  );
const isNested = (name: string) => name.includes(": ");
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

function inWords(name: string, value: unknown, facets: AuditFacets): string {
  if (value === null || value === undefined || value === "") return NONE;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if ((name === "project_id" || name === "into") && typeof value === "number")
    return nameOfProject(value, facets);
  if (typeof value === "string") return TIME.test(value) ? exactTime(value) : value;
  if (Array.isArray(value) && value.every((each) => typeof each !== "object"))
    return value.join(", ") || NONE;
  return JSON.stringify(value);
}

/** Return the name of a project, even if it is deleted or hidden. */
export function nameOfProject(id: number | null, { projects }: AuditFacets): string {
  if (id === null) return "Installation";
  return projects.find((each) => each.id === id)?.name || `Project ${id}`;
}

/** Return the name of a person, with what tells several people of that name apart. */
export function nameOfPerson(id: number | null, { people }: AuditFacets): string {
  const person = people.find((each) => each.id === id);
  if (!person) return "";
  if (people.filter(({ name }) => name === person.name).length === 1) return person.name;
  return `${person.name} (${person.email ?? `person ${person.id}`})`;
}

/** Return the address of the page of an entry's object, or null if it has none. */
export function pageOf({
  kind,
  action,
  object_id,
}: Pick<AuditEntry, "kind" | "action" | "object_id">): string | null {
  const page = PAGES[kind];
  return page && action !== "delete" ? `/${page}/${object_id}` : null;
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
