/** Draft of the form: the typed text, its values and its errors. */

import type { ConfigValue, RunConfig } from "@/api/types";
import { isAmbiguous, parseNumber, formatNumber } from "./numbers";
import type { FormField, Range, Variant } from "./schema";

/** Contents of the inputs: booleans for switches, typed text for all others. */
export type Draft = Record<string, string | boolean>;
export type FieldErrors = Record<string, string>;

export function draftOf(values: RunConfig, fields: FormField[]): Draft {
  return Object.fromEntries(
    fields.map((field) => [field.name, written(field, values[field.name] ?? field.initial)]),
  );
}

/** Return the inputs to keep when the method changes, if they fit the new method. */
export function carryOver(draft: Draft, kept: readonly string[], variant: Variant): Draft {
  const fits = ({ name, choices }: FormField) =>
    name !== "algorithm" &&
    kept.includes(name) &&
    (choices.length === 0 || choices.includes(String(draft[name])));
  const carried = variant.fields.flatMap((field) => {
    const typed = draft[field.name];
    return typed !== undefined && fits(field) ? [[field.name, typed] as const] : [];
  });
  return Object.fromEntries(carried);
}

export function written(field: FormField, value: ConfigValue): string | boolean {
  if (field.kind === "boolean") return value === true;
  if (value === null) return "";
  if (typeof value === "object") return value.map(formatNumber).join(", ");
  return typeof value === "number" ? formatNumber(value) : String(value);
}

/** Return the value of an input, or an error message. */
export function read(field: FormField, typed: string | boolean): { value: ConfigValue } | { error: string } {
  if (typeof typed === "boolean") return { value: typed };
  const text = typed.trim();
  if (text === "") {
    if (field.optional) return { value: null };
    return { error: field.kind === "choice" ? "Choose one." : "Enter a value." };
  }
  if (field.kind === "choice")
    return field.choices.includes(text) ? { value: text } : { error: "Not a valid choice." };
  if (field.kind === "text") return { value: text };
  return field.kind === "numbers" ? readNumbers(field, text) : readNumber(field, text);
}

function readNumber(field: FormField, text: string): { value: number } | { error: string } {
  const whole = field.kind === "integer";
  if (isAmbiguous(text, whole)) return { error: ambiguousComma(text) };
  const value = parseNumber(text);
  if (value === null) return { error: "Not a number. Use a format such as 0.001, 1e-3, 10M or 115_000_000." };
  if (whole && !Number.isInteger(value)) return { error: "Must be a whole number." };
  return inRange(value, field.range) ? { value } : { error: `Must be ${rangeText(field.range)}.` };
}

const ambiguousComma = (text: string) =>
  `The comma in ${text} is ambiguous. Write ${text.replace(",", ".")} or ${text.replace(",", "")}.`;

/** Matches a decimal number with a comma or two numbers without a space: 0,1 but not 16,32,64. */
const AMBIGUOUS_COMMA = /^[+-]?\d+,\d+,?$|(?:^|,)[+-]?0,\d/;

/** Return an error for the first ambiguous comma, or null. */
export function ambiguityOf(text: string): string | null {
  const ambiguous = /[;.]/.test(text)
    ? undefined
    : text.split(/\s+/).find((word) => AMBIGUOUS_COMMA.test(word));
  return ambiguous
    ? `Is “${ambiguous}” one number or two? Use a decimal point, or a space after the comma.`
    : null;
}

/**
 * Read numbers separated by commas, or by semicolons if some have decimal commas. A trailing separator is
 * allowed.
 */
function readNumbers(field: FormField, text: string): { value: number[] } | { error: string } {
  const value: number[] = [];
  const ambiguous = ambiguityOf(text);
  if (ambiguous) return { error: ambiguous };
  const between = text.includes(";") && !/,\s/.test(text) ? /\s*;\s*|\s+/ : /\s*[,;]\s*|\s+/;
  for (const part of text.replace(/[,;\s]+$/, "").split(between)) {
    if (isAmbiguous(part, false)) return { error: ambiguousComma(part) };
    const one = parseNumber(part);
    if (one === null)
      return {
        error: part ? `“${part}” is not a number.` : "Separate numbers with commas: 0.1, 0.01, 0.5.",
      };
    if (!inRange(one, field.range))
      return { error: `Each must be ${rangeText(field.range)}, unlike ${part}.` };
    value.push(one);
  }
  if (!inRange(value.length, field.count))
    return { error: `Enter ${countText(field.count)}, not ${value.length}.` };
  return { value };
}

function inRange(value: number, { min, max, above, below }: Range): boolean {
  return !(
    (min !== undefined && value < min) ||
    (max !== undefined && value > max) ||
    (above !== undefined && value <= above) ||
    (below !== undefined && value >= below)
  );
}

/** Return a number with thin spaces instead of underscores. */
function legible(value: number): string {
  return formatNumber(value).replaceAll("_", "\u202f");
}

/** Return the range as text: "from 1 to 1024" or "above 0, at most 10". Empty without a range. */
export function rangeText({ min, max, above, below }: Range): string {
  if (min !== undefined && max !== undefined) return `from ${legible(min)} to ${legible(max)}`;
  const parts = [
    min === undefined ? "" : `at least ${legible(min)}`,
    above === undefined ? "" : `above ${legible(above)}`,
    max === undefined ? "" : `at most ${legible(max)}`,
    below === undefined ? "" : `below ${legible(below)}`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** Return the allowed count as text: "1 to 16 numbers". */
function countText({ min = 0, max }: Range): string {
  return max === undefined
    ? `at least ${min} numbers`
    : min === max
      ? `${max} numbers`
      : `${min} to ${max} numbers`;
}

/** Return a description of valid input. Empty if all input is valid. */
export function hintOf({ kind, range, count }: FormField): string {
  const bounds = rangeText(range);
  if (kind === "numbers") return [countText(count), bounds].filter(Boolean).join(", each ");
  return bounds && `${kind === "integer" ? "Whole number" : "Number"} ${bounds}`;
}

/** Read all fields of a draft. */
export function readDraft(draft: Draft, fields: FormField[]): { values: RunConfig; errors: FieldErrors } {
  const values: RunConfig = {};
  const errors: FieldErrors = {};
  for (const field of fields) {
    const result = read(field, draft[field.name] ?? written(field, field.initial));
    if ("error" in result) errors[field.name] = result.error;
    else values[field.name] = result.value;
  }
  return { values, errors };
}

/** Return true if an input differs from the reference. Invalid input counts as changed. */
export function isChanged(
  field: FormField,
  typed: string | boolean | undefined,
  reference: ConfigValue,
): boolean {
  if (typed === undefined) return false;
  const result = read(field, typed);
  return "error" in result || !sameValue(result.value, reference);
}

/** Return the values that differ from a reference: the overrides of a fork or clone. */
export function overridesOf(values: RunConfig, reference: RunConfig): RunConfig {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !sameValue(value, reference[name])),
  );
}

/** Return true if two values are equal. Lists are compared by their items. */
export function sameValue(a: ConfigValue | undefined, b: ConfigValue | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  return a.length === b.length && a.every((value, place) => value === b[place]);
}

/** Return a value as text for tables: on or off for switches, grouped digits for numbers. */
export function shown(value: ConfigValue | undefined): string {
  if (value === undefined || value === null) return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  // Configurations of reported runs may be nested.
  if (typeof value === "object") {
    return Array.isArray(value) && value.every((item) => typeof item === "number")
      ? value.map(legible).join(", ")
      : JSON.stringify(value);
  }
  return typeof value === "number" ? legible(value) : value;
}
