/** Orders of the run table as text, for the URL and the API: "-best_return,created_at". */

export const NEWEST_FIRST = "-created_at";

/** The server sorts by at most this many columns. */
export const MAX_SORT_KEYS = 5;

/** A part of an order without a comma outside of quotes. */
const PIECE = /(?:[^,()"]|"[^"]*")+|[,()"]/g;

export interface SortPlace {
  direction: "ascending" | "descending" | "none";
  /** Place among several keys, from 1. Zero for the only key. */
  rank: number;
}

/** Split an order at commas outside of quotes and parentheses. */
export function splitSort(sort: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const [piece] of sort.matchAll(PIECE)) {
    depth += piece === "(" ? 1 : piece === ")" ? -1 : 0;
    if (piece === "," && depth === 0) parts.push("");
    else parts.push((parts.pop() ?? "") + piece);
  }
  return parts.filter(Boolean);
}

/** Return the direction of a column and its place in the order. */
export function sortPlace(sort: string, key: string | undefined): SortPlace {
  const parts = splitSort(sort);
  const at = parts.findIndex((part) => part === key || part === `-${key}`);
  if (key === undefined || at < 0) return { direction: "none", rank: 0 };
  return {
    direction: parts[at] === key ? "ascending" : "descending",
    rank: parts.length > 1 ? at + 1 : 0,
  };
}

/** Return the order after a click on a header: descending, ascending, then newest first. */
export function nextSort(current: string, key: string): string {
  if (current === `-${key}`) return key;
  return current === key ? NEWEST_FIRST : `-${key}`;
}

/** Return the order after a Shift-click, which adds a key: descending, ascending, then without it. */
export function addSort(current: string, key: string): string {
  // No two runs are of the same time, so a key after it would change nothing.
  const parts = current === NEWEST_FIRST && key !== "created_at" ? [] : splitSort(current);
  const at = parts.findIndex((part) => part === key || part === `-${key}`);
  if (at < 0) return parts.length < MAX_SORT_KEYS ? [...parts, `-${key}`].join() : current;
  const changed = parts[at] === key ? parts.toSpliced(at, 1) : parts.toSpliced(at, 1, key);
  return changed.length === 0 ? NEWEST_FIRST : changed.join();
}
