/** Loaded log lines, ordered by id without duplicates. */

import type { LogLine } from "@/api/types";

/** Merge newly loaded lines, older or newer, into the loaded lines. */
export function mergeLines(loaded: readonly LogLine[], arrived: readonly LogLine[]): LogLine[] {
  const last = loaded.at(-1)?.id ?? -Infinity;
  const first = loaded[0]?.id ?? Infinity;
  const newer = arrived.filter((line) => line.id > last);
  const older = arrived.filter((line) => line.id < first && line.id <= last);
  return [...older, ...loaded, ...newer].sort((a, b) => a.id - b.id);
}

/** Append newer lines, and drop the oldest lines beyond the limit. */
export function appendLines(
  loaded: readonly LogLine[],
  arrived: readonly LogLine[],
  limit: number,
): LogLine[] {
  return mergeLines(loaded, arrived).slice(-limit);
}

/** Return a line of the downloaded log file. */
export function formatLine({ time, attempt, level, message }: LogLine): string {
  return `${time} [attempt ${attempt}] ${level.toUpperCase()} ${message}\n`;
}
