/** The lines of a log as they are held in the page: ordered by id, each once. */

import type { LogLine } from "@/api/types";

export function merged(held: readonly LogLine[], arrived: readonly LogLine[]): LogLine[] {
  const last = held.at(-1)?.id ?? -Infinity;
  const first = held[0]?.id ?? Infinity;
  const newer = arrived.filter((line) => line.id > last);
  const older = arrived.filter((line) => line.id < first && line.id <= last);
  return [...older, ...held, ...newer].sort((a, b) => a.id - b.id);
}

/** The lines held after new ones came, with the oldest given up beyond so many. */
export function followed(held: readonly LogLine[], arrived: readonly LogLine[], most: number): LogLine[] {
  return merged(held, arrived).slice(-most);
}

/** One line as it stands in a downloaded file. */
export function lineText({ time, attempt, level, message }: LogLine): string {
  return `${time} [attempt ${attempt}] ${level.toUpperCase()} ${message}\n`;
}
