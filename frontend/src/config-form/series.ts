/** Several values in one form field, which turn a run into a study. */

import type { FieldErrors } from "./draft";
import { type Draft, read } from "./draft";
import { parseNumber, formatNumber } from "./numbers";
import type { FormField } from "./schema";

export type Single = string | number | boolean;
export type RangeKind = "log" | "uniform";
export interface RangeSeries {
  kind: RangeKind;
  bounds: [number, number];
  /** The number of values if all are tried. Ignored if they are drawn. */
  count: number;
}
export type Series = { kind: "values"; values: Single[] } | RangeSeries;

/** Text of a range, possibly with empty or invalid parts. */
export interface RangeText {
  kind: RangeKind;
  low: string;
  high: string;
  count: string;
}

const VALUE_RANGE = /^(log|uniform)\(\s*([^,()]*?)\s*,\s*([^,()]*?)\s*\)\s*(?:[x×*]\s*(\S*))?$/i;
const SEED_RANGE = /^(\d{1,10})\s*-\s*(\d{1,10})$/;
const NUMBER_SEPARATOR = /,\s+|;\s*/;
const WORD_SEPARATOR = /,\s*/;
const MAX_VALUES = 1000;
export const DEFAULT_COUNT = 5;
const SWITCHES: Record<string, boolean> = { off: false, on: true };

/** Return true if a field can have several values. Lists of numbers and free text cannot. */
export const canVary = ({ name, kind, choices }: FormField): boolean =>
  name !== "algorithm" &&
  (["number", "integer", "boolean"].includes(kind) || (kind === "choice" && choices.length > 1));

/** Return the parts of a range such as "log(1e-4, 1e-2) x 5", or null. */
export function parseRange(text: string): RangeText | null {
  const [whole, kind = "", low = "", high = "", count = ""] = VALUE_RANGE.exec(text.trim()) ?? [];
  return whole === undefined
    ? null
    : { kind: kind.toLowerCase() === "log" ? "log" : "uniform", low, high, count };
}

/** Format a range so that parseRange reads it back. */
export const formatRange = ({ kind, low, high, count }: RangeText): string =>
  `${kind}(${low}, ${high})${count && ` x ${count}`}`;

/** Return the values of an input, an error message, or null for a single value. */
export function readSeries(field: FormField, typed: string | boolean): Series | { error: string } | null {
  if (typeof typed === "boolean" || !canVary(field)) return null;
  const text = typed.trim();
  if (field.kind === "boolean" || field.kind === "choice") {
    const words = text.split(WORD_SEPARATOR).filter(Boolean);
    return words.length > 1 ? readWords(field, words) : null;
  }
  const range = parseRange(text);
  if (range) return readRange(field, range);
  const parts = text.split(NUMBER_SEPARATOR).filter(Boolean);
  const ranged = field.name === "seed" && parts.some((part) => SEED_RANGE.test(part));
  return parts.length > 1 || ranged ? readList(field, parts) : null;
}

function readWords(field: FormField, words: readonly string[]): Series | { error: string } {
  const known = field.kind === "boolean" ? Object.keys(SWITCHES) : field.choices;
  const wrong = words.find((word) => !known.includes(word));
  if (wrong !== undefined) return { error: `“${wrong}” is not a valid choice.` };
  if (new Set(words).size < words.length) return { error: "Enter each value once." };
  return { kind: "values", values: words.map((word) => (field.kind === "boolean" ? word === "on" : word)) };
}

function readRange(field: FormField, { kind, low, high, count }: RangeText): Series | { error: string } {
  if (field.name === "seed") return { error: "Enter seeds as a list: 1-5 or 3, 7, 11." };
  const many = count === "" ? DEFAULT_COUNT : parseNumber(count);
  if (many === null || !Number.isInteger(many) || many < 2 || many > MAX_VALUES)
    return { error: `Enter 2 to ${MAX_VALUES} values: log(1e-4, 1e-2) x 5.` };
  const bounds: number[] = [];
  for (const end of [low, high]) {
    const found = read(field, end);
    if ("error" in found) return { error: end ? `${end}: ${found.error}` : "Enter both ends of the range." };
    bounds.push(Number(found.value));
  }
  const [from = 0, to = 0] = bounds;
  if (from >= to) return { error: `The start ${low} must be less than the end ${high}.` };
  if (kind === "log" && from <= 0) return { error: "A log range must start above 0." };
  return { kind, bounds: [from, to], count: many };
}

function readList(field: FormField, parts: readonly string[]): Series | { error: string } {
  const values: number[] = [];
  for (const part of parts) {
    const range = field.name === "seed" ? SEED_RANGE.exec(part) : null;
    if (range) {
      const [low, high] = [Number(range[1]), Number(range[2])];
      if (low > high || high - low >= MAX_VALUES)
        return { error: `${part} is not a range of at most ${MAX_VALUES} seeds.` };
      for (let seed = low; seed <= high; seed += 1) values.push(seed);
      continue;
    }
    const one = read(field, part);
    if ("error" in one) return { error: `${part}: ${one.error}` };
    values.push(Number(one.value));
  }
  if (new Set(values).size < values.length) return { error: "Enter each value once." };
  return { kind: "values", values };
}

/** Return evenly spaced values of a range including its ends, rounded for whole-number fields. */
export function evenlySpaced({ kind, bounds: [low, high], count }: RangeSeries, whole: boolean): number[] {
  const values = Array.from({ length: count }, (_, place) => {
    if (place === 0) return low;
    if (place === count - 1) return high;
    const part = place / (count - 1);
    const value = kind === "log" ? low * (high / low) ** part : low + (high - low) * part;
    return whole ? Math.round(value) : Number(value.toPrecision(4));
  });
  return [...new Set(values)];
}

/** Format values for an input. Consecutive seeds become a range. */
export function formatValues(field: FormField, values: readonly Single[]): string {
  const [first] = values;
  const inRow = values.every((value, place) => value === Number(first) + place);
  if (field.name === "seed" && values.length > 1 && inRow) return `${String(first)}-${String(values.at(-1))}`;
  const write = (value: Single) => {
    if (typeof value === "number") return formatNumber(value);
    return typeof value === "boolean" ? (value ? "on" : "off") : value;
  };
  return values.map(write).join(", ");
}

/** Return the fields with several values, and their errors. */
export function readAllSeries(draft: Draft, fields: readonly FormField[]) {
  const series: Record<string, Series> = {};
  const errors: FieldErrors = {};
  for (const field of fields) {
    const typed = draft[field.name];
    const found = typed === undefined ? null : readSeries(field, typed);
    if (found === null) continue;
    if ("error" in found) errors[field.name] = found.error;
    else series[field.name] = found;
  }
  return { series, errors };
}

/** Return the first value, which represents the series in a single run. */
export const firstOf = (series: Series): Single =>
  series.kind === "values" ? (series.values[0] ?? 0) : series.bounds[0];
