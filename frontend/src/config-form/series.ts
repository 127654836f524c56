/** Several values in one field of the form, which make a study of what would be one run. */

import type { FieldErrors } from "./draft";
import { type Draft, read } from "./draft";
import type { FormField } from "./schema";

export type Series =
  { kind: "values"; values: number[] } | { kind: "log" | "uniform"; bounds: [number, number]; count: number };

const DRAWN = /^(log|uniform)\(\s*([^\s,]+)\s*,\s*([^\s,]+)\s*\)\s*(?:[x×*]\s*(\d{1,5}))?$/i;
const RANGE = /^(\d{1,10})\s*-\s*(\d{1,10})$/;
const BETWEEN = /,\s+|;\s*/;
const MOST_VALUES = 1000;

/** The values that an input names if they are several, a sentence if they are wrong, null if it is one value. */
export function readSeries(field: FormField, typed: string | boolean): Series | { error: string } | null {
  if (typeof typed === "boolean" || (field.kind !== "number" && field.kind !== "integer")) return null;
  const text = typed.trim();
  const drawn = DRAWN.exec(text);
  if (drawn) return readDrawn(field, drawn);
  const parts = text.split(BETWEEN).filter(Boolean);
  const ranged = field.name === "seed" && parts.some((part) => RANGE.test(part));
  return parts.length > 1 || ranged ? readList(field, parts) : null;
}

function readDrawn(field: FormField, [, way = "", low = "", high = "", count]: RegExpExecArray) {
  if (field.name === "seed") return { error: "Seeds are a list, as 1-5 or 3, 7, 11." };
  if (!count) return { error: "Say how many to draw, as log(1e-4, 1e-2) x 20." };
  const bounds: number[] = [];
  for (const end of [low, high]) {
    const found = read(field, end);
    if ("error" in found) return { error: `${end}: ${found.error}` };
    bounds.push(Number(found.value));
  }
  const [from = 0, to = 0] = bounds;
  if (from >= to) return { error: `It begins at ${low}, which is not below ${high}.` };
  if (way.toLowerCase() === "log" && from <= 0) return { error: "A range of log has to begin above 0." };
  const kind: "log" | "uniform" = way.toLowerCase() === "log" ? "log" : "uniform";
  return { kind, bounds: [from, to] as [number, number], count: Number(count) };
}

function readList(field: FormField, parts: readonly string[]): Series | { error: string } {
  const values: number[] = [];
  for (const part of parts) {
    const range = field.name === "seed" ? RANGE.exec(part) : null;
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
export const firstOf = (series: Series): number =>
  series.kind === "values" ? (series.values[0] ?? 0) : series.bounds[0];
