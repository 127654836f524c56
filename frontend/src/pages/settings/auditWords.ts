import type { AuditEntry } from "@/api/types";

const MAX_LENGTH = 80;

/** Return a line for each changed setting of an entry: "name: A → B". */
export function describeChange({ before, after }: Pick<AuditEntry, "before" | "after">): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.map((name) => {
    const [old, fresh] = [before?.[name], after?.[name]];
    const label = name.replaceAll("_", " ");
    if (before === null) return `${label}: ${words(fresh)}`;
    return after === null ? `${label}: ${words(old)}` : `${label}: ${words(old)} → ${words(fresh)}`;
  });
}

function words(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
