/** Data of histograms and tables. The server has validated them, so these functions only give them types. */

import type { MediaItem } from "@/api/types";

/** Items of a media view: those of one step, and those of all steps for an overview. */
export interface MediaViewProps {
  items: readonly MediaItem[];
  all: readonly MediaItem[];
}

export type Cell = string | number | boolean | null;

export interface Histogram {
  edges: readonly number[];
  counts: readonly number[];
}

export interface TableData {
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

export const histogramOf = (item: MediaItem) => item.data as unknown as Histogram;

export const tableOf = (item: MediaItem) => item.data as unknown as TableData;

/** Return at most `limit` items, evenly spread, with the first and the last. */
export function spread<T>(items: readonly T[], limit: number): T[] {
  if (items.length <= limit) return [...items];
  const distance = (items.length - 1) / (limit - 1);
  return Array.from({ length: limit }, (_, index) => items[Math.round(index * distance)] as T);
}

/** Return the smallest and the largest edge of these histograms. They differ, so that an axis can be drawn. */
export function rangeOf(histograms: readonly Histogram[]): [number, number] {
  const low = Math.min(...histograms.map(({ edges }) => edges[0] ?? 0));
  const high = Math.max(...histograms.map(({ edges }) => edges.at(-1) ?? 0));
  return low < high ? [low, high] : [low - 0.5, low + 0.5];
}

/** Merge neighboring bins until there are at most `limit`. */
export function coarser({ edges, counts }: Histogram, limit: number): Histogram {
  const size = Math.ceil(counts.length / limit);
  if (size <= 1) return { edges, counts };
  const starts = counts.flatMap((_, bin) => (bin % size === 0 ? [bin] : []));
  return {
    edges: [...starts.map((bin) => edges[bin] ?? 0), edges.at(-1) ?? 0],
    counts: starts.map((bin) => counts.slice(bin, bin + size).reduce((sum, count) => sum + count, 0)),
  };
}
