/** Several values in one field of the form, which make a study of what would be one run. */

import type { FieldErrors } from "./draft";
import { type Draft, read } from "./draft";
import { parseNumber, writeNumber } from "./numbers";
import type { FormField } from "./schema";

export type Single = string | number | boolean;
export type RangeKind = "log" | "uniform";
export interface RangeSeries {
  kind: RangeKind;
  bounds: [number, number];
  /** The number of values where all are tried; none of it matters where they are drawn. */
  count: number;
}
export type Series = { kind: "values"; values: Single[] } | RangeSeries;

/** A range as it is written, possibly with empty or wrong parts. */
export interface RangeText {
  kind: RangeKind;
  low: string;
  high: string;
  count: string;
}

const RANGE_OF_VALUES = /^(log|uniform)\(\s*([^,()]*?)\s*,\s*([^,()]*?)\s*\)\s*(?:[x×*]\s*(\S*))?$/i;
const RANGE_OF_SEEDS = /^(\d{1,10})\s*-\s*(\d{1,10})$/;
const BETWEEN_NUMBERS = /,\s+|;\s*/;
const BETWEEN_WORDS = /,\s*/;
const MOST_VALUES = 1000;
export const USUAL_COUNT = 5;
const SWITCHES: Record<string, boolean> = { off: false, on: true };

/** Whether a field can have several values: lists of numbers and free texts cannot. */
export const canVary = ({ name, kind, choices }: FormField): boolean =>
  name !== "algorithm" &&
  (["number", "integer", "boolean"].includes(kind) || (kind === "choice" && choices.length > 1));

/** The parts of a range such as "log(1e-4, 1e-2) x 5"; null if the text is none. */
export function rangeText(text: string): RangeText | null {
  const [whole, kind = "", low = "", high = "", count = ""] = RANGE_OF_VALUES.exec(text.trim()) ?? [];
  return whole === undefined
    ? null
    : { kind: kind.toLowerCase() === "log" ? "log" : "uniform", low, high, count };
}

/** Write a range so that rangeText reads the same parts. */
export const writeRange = ({ kind, low, high, count }: RangeText): string =>
  `${kind}(${low}, ${high})${count && ` x ${count}`}`;

/** The values that an input names if they are several, a sentence if they are wrong, null if it is one value. */
export function readSeries(field: FormField, typed: string | boolean): Series | { error: string } | null {
  if (typeof typed === "boolean" || !canVary(field)) return null;
  const text = typed.trim();
  if (field.kind === "boolean" || field.kind === "choice") {
    const words = text.split(BETWEEN_WORDS).filter(Boolean);
    return words.length > 1 ? readWords(field, words) : null;
  }
  const range = rangeText(text);
  if (range) return readRange(field, range);
  const parts = text.split(BETWEEN_NUMBERS).filter(Boolean);
  const ranged = field.name === "seed" && parts.some((part) => RANGE_OF_SEEDS.test(part));
  return parts.length > 1 || ranged ? readList(field, parts) : null;
}

function readWords(field: FormField, words: readonly string[]): Series | { error: string } {
  const known = field.kind === "boolean" ? Object.keys(SWITCHES) : field.choices;
  const wrong = words.find((word) => !known.includes(word));
  if (wrong !== undefined) return { error: `“${wrong}” is not one of the choices.` };
  if (new Set(words).size < words.length) return { error: "Name each value once." };
  return { kind: "values", values: words.map((word) => (field.kind === "boolean" ? word === "on" : word)) };
}

function readRange(field: FormField, { kind, low, high, count }: RangeText): Series | { error: string } {
  if (field.name === "seed") return { error: "Seeds are a list, as 1-5 or 3, 7, 11." };
  const many = count === "" ? USUAL_COUNT : parseNumber(count);
  if (many === null || !Number.isInteger(many) || many < 2 || many > MOST_VALUES)
    return { error: `Give 2 to ${MOST_VALUES} values, as log(1e-4, 1e-2) x 5.` };
  const bounds: number[] = [];
  for (const end of [low, high]) {
    const found = read(field, end);
    if ("error" in found) return { error: end ? `${end}: ${found.error}` : "A range needs two ends." };
    bounds.push(Number(found.value));
  }
  const [from = 0, to = 0] = bounds;
  if (from >= to) return { error: `It begins at ${low}, which is not below ${high}.` };
  if (kind === "log" && from <= 0) return { error: "A range of log has to begin above 0." };
  return { kind, bounds: [from, to], count: many };
}

function readList(field: FormField, parts: readonly string[]): Series | { error: string } {
  const values: number[] = [];
  for (const part of parts) {
    const range = field.name === "seed" ? RANGE_OF_SEEDS.exec(part) : null;
    if (range) {
      const [low, high] = [Number(range[1]), Number(range[2])];
      if (low > high || high - low >= MOST_VALUES)
        return { error: `${part} is no range of at most ${MOST_VALUES} seeds.` };
      for (let seed = low; seed <= high; seed += 1) values.push(seed);
      continue;
    }
    const one = read(field, part);
    if ("error" in one) return { error: `${part}: ${one.error}` };
    values.push(Number(one.value));
  }
  if (new Set(values).size < values.length) return { error: "Name each value once." };
  return { kind: "values", values };
}

/** The values of a range at equal distances, its ends among them; whole ones for a field that takes no others. */
export function spaced({ kind, bounds: [low, high], count }: RangeSeries, whole: boolean): number[] {
  const values = Array.from({ length: count }, (_, place) => {
    if (place === 0) return low;
    if (place === count - 1) return high;
    const part = place / (count - 1);
    const value = kind === "log" ? low * (high / low) ** part : low + (high - low) * part;
    return whole ? Math.round(value) : Number(value.toPrecision(4));
  });
  return [...new Set(values)];
}

/** Values as they are written in a field's input; seeds in a row as a range of them. */
export function writeValues(field: FormField, values: readonly Single[]): string {
  const [first] = values;
  const inRow = values.every((value, place) => value === Number(first) + place);
  if (field.name === "seed" && values.length > 1 && inRow) return `${String(first)}-${String(values.at(-1))}`;
  const write = (value: Single) => {
    if (typeof value === "number") return writeNumber(value);
    return typeof value === "boolean" ? (value ? "on" : "off") : value;
  };
  return values.map(write).join(", ");
}

/** The fields with several values, and what is wrong with them. */
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

/** The value that stands for a series where one run is looked at. */
export const firstOf = (series: Series): Single =>
  series.kind === "values" ? (series.values[0] ?? 0) : series.bounds[0];
