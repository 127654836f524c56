/** The form's draft: text as typed, what it means, and what is wrong with it. */

import type { ConfigValue, RunConfig } from "@/api/types";
import { isAmbiguous, parseNumber, writeNumber } from "./numbers";
import type { FormField, Range, Variant } from "./schema";

/** What the inputs hold: switches are booleans, everything else is the text as typed. */
export type Draft = Record<string, string | boolean>;
export type FieldErrors = Record<string, string>;

export function draftOf(values: RunConfig, fields: FormField[]): Draft {
  return Object.fromEntries(
    fields.map((field) => [field.name, written(field, values[field.name] ?? field.initial)]),
  );
}

/** What was written for one method and goes on for another: the inputs that are to be kept and fit. */
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
  if (typeof value === "object") return value.map(writeNumber).join(", ");
  return typeof value === "number" ? writeNumber(value) : String(value);
}

/** The value that an input means, or a sentence saying what would be right. */
export function read(field: FormField, typed: string | boolean): { value: ConfigValue } | { error: string } {
  if (typeof typed === "boolean") return { value: typed };
  const text = typed.trim();
  if (text === "") {
    if (field.optional) return { value: null };
    return { error: field.kind === "choice" ? "Choose one." : "Needs a value." };
  }
  if (field.kind === "choice")
    return field.choices.includes(text) ? { value: text } : { error: "Not one of the choices." };
  if (field.kind === "text") return { value: text };
  return field.kind === "numbers" ? readNumbers(field, text) : readNumber(field, text);
}

function readNumber(field: FormField, text: string): { value: number } | { error: string } {
  const whole = field.kind === "integer";
  if (isAmbiguous(text, whole)) return { error: commaWords(text) };
  const value = parseNumber(text);
  if (value === null) return { error: "Not a number. Write it as 0.001, 1e-3, 10M or 115_000_000." };
  if (whole && !Number.isInteger(value)) return { error: "Must be a whole number." };
  return inRange(value, field.range) ? { value } : { error: `Must be ${rangeText(field.range)}.` };
}

const commaWords = (text: string) =>
  `The comma of ${text} can be read in two ways. Write ${text.replace(",", ".")} or ${text.replace(",", "")}.`;

/** A word that is one number with a decimal comma or two numbers with no space between: 0,1 but not 16,32,64. */
const GLUED = /^[+-]?\d+,\d+,?$|(?:^|,)[+-]?0,\d/;

/** Asks what is meant by the first comma that may stand before decimals or between two numbers; null without any. */
export function gluedWords(text: string): string | null {
  const glued = /[;.]/.test(text) ? undefined : text.split(/\s+/).find((word) => GLUED.test(word));
  return glued ? `Is “${glued}” one number or two? Write a point in it, or a space after its comma.` : null;
}

/** Numbers between commas, or between semicolons if some have decimal commas; one left over at the end is no mistake. */
function readNumbers(field: FormField, text: string): { value: number[] } | { error: string } {
  const value: number[] = [];
  const glued = gluedWords(text);
  if (glued) return { error: glued };
  const between = text.includes(";") && !/,\s/.test(text) ? /\s*;\s*|\s+/ : /\s*[,;]\s*|\s+/;
  for (const part of text.replace(/[,;\s]+$/, "").split(between)) {
    if (isAmbiguous(part, false)) return { error: commaWords(part) };
    const one = parseNumber(part);
    if (one === null)
      return {
        error: part ? `“${part}” is not a number.` : "Write numbers between commas, as 0.1, 0.01, 0.5.",
      };
    if (!inRange(one, field.range))
      return { error: `Each must be ${rangeText(field.range)}, unlike ${part}.` };
    value.push(one);
  }
  if (!inRange(value.length, field.count))
    return { error: `Give ${countText(field.count)}, not ${value.length}.` };
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

/** A number for reading: thin spaces where an input has underscores. */
function legible(value: number): string {
  return writeNumber(value).replaceAll("_", "\u202f");
}

/** The range in words, as "from 1 to 1024" or "above 0, at most 10"; empty where there is none. */
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

/** How many, in words, as "1 to 16 numbers". */
function countText({ min = 0, max }: Range): string {
  return max === undefined
    ? `at least ${min} numbers`
    : min === max
      ? `${max} numbers`
      : `${min} to ${max} numbers`;
}

/** What may be written, in words; empty where anything goes. */
export function hintOf({ kind, range, count }: FormField): string {
  const bounds = rangeText(range);
  if (kind === "numbers") return [countText(count), bounds].filter(Boolean).join(", each ");
  return bounds && `${kind === "integer" ? "Whole number" : "Number"} ${bounds}`;
}

/** Read every field of a draft. */
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

/** Whether an input means another value than the reference; what cannot be read counts as changed. */
export function isChanged(
  field: FormField,
  typed: string | boolean | undefined,
  reference: ConfigValue,
): boolean {
  if (typed === undefined) return false;
  const result = read(field, typed);
  return "error" in result || !sameValue(result.value, reference);
}

/** Values that differ from a reference configuration: what a fork or clone sends as its overrides. */
export function overridesOf(values: RunConfig, reference: RunConfig): RunConfig {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !sameValue(value, reference[name])),
  );
}

/** Whether two settings are the same; lists are, number by number. */
export function sameValue(a: ConfigValue | undefined, b: ConfigValue | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  return a.length === b.length && a.every((value, place) => value === b[place]);
}

/** A value in the words of a table: on and off for switches, grouped digits for numbers. */
export function shown(value: ConfigValue | undefined): string {
  if (value === undefined || value === null) return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "object") return value.map(legible).join(", ");
  return typeof value === "number" ? legible(value) : value;
}
