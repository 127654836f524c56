/** Saliency of a replay per decision, and its painting over the picture. */

import type { SaliencyMaps } from "@/api/types";

/** The saliency shown over the picture: none, of the policy, of the value, or both. */
export type SaliencyShown = "off" | "policy" | "value" | "both";

/** Maps of one network head: a byte for each grid cell, in 255ths of the decision's peak. */
export interface Maps {
  places: Uint8Array;
  peaks: readonly number[];
  /** Value that is painted fully opaque. Most decisions' peaks are lower. */
  full: number;
}

export interface Saliencies {
  numbersKind: SaliencyMaps["head"]["numbers_kind"];
  rows: number;
  policy: Maps;
  value: Maps;
}

/** Percentile of the decisions' peaks that is painted fully opaque. */
const FULL_AT = 0.9;

export function salienciesOf({ head, rows, ...maps }: SaliencyMaps): Saliencies {
  return {
    numbersKind: head.numbers_kind,
    rows,
    policy: mapsOf(maps.policy, maps.policy_peak.map(Number)),
    value: mapsOf(maps.value, maps.value_peak.map(Number)),
  };
}

function mapsOf(written: string, peaks: number[]): Maps {
  const places = Uint8Array.from(atob(written), (letter) => letter.charCodeAt(0));
  const ordered = peaks.filter((peak) => peak > 0 && peak < Infinity).sort((a, b) => a - b);
  return { places, peaks, full: ordered[Math.floor(ordered.length * FULL_AT)] ?? 1 };
}

/**
 * Return the opacity of a cell from 0 to 1. The saliency is a squared difference. Its square root is used,
 * because otherwise one strong cell would hide all others.
 */
export function strengthOf(
  { places, peaks, full }: Maps,
  cells: number,
  decision: number,
  cell: number,
): number {
  const share = (places[decision * cells + cell] ?? 0) / 255;
  const strength = Math.sqrt((share * (peaks[decision] ?? 0)) / full);
  return Number.isFinite(strength) ? Math.min(1, strength) : 0;
}

const BLUE = [40, 130, 255] as const;
const RED = [255, 50, 30] as const;
const MOST_COVERED = 0.8;

/** Return the RGBA pixels of the overlay at a decision, one for each grid cell. */
export function painted(
  found: Saliencies,
  decision: number,
  shown: SaliencyShown,
): Uint8ClampedArray<ArrayBuffer> {
  const cells = found.rows ** 2;
  const pixels = new Uint8ClampedArray(4 * cells);
  for (let cell = 0; cell < cells; cell += 1) {
    const blue = shown === "value" ? 0 : strengthOf(found.policy, cells, decision, cell);
    const red = shown === "policy" ? 0 : strengthOf(found.value, cells, decision, cell);
    const part = blue + red === 0 ? 0 : red / (blue + red);
    const mixed = BLUE.map((of, i) => of * (1 - part) + (RED[i] ?? 0) * part);
    pixels.set([...mixed, 255 * MOST_COVERED * Math.max(blue, red)], 4 * cell);
  }
  return pixels;
}
