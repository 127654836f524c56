/** Places of server errors in the form. */

import { ApiError, type FieldError } from "@/api/problem";
import { toSentence } from "@/ui/format";
import type { FieldErrors } from "./draft";

export interface PlacedErrors {
  byField: FieldErrors;
  /** Errors without a field in the form. */
  general: string[];
}

// Field names of server errors that concern several fields.
const FORM_NAMES = ["", "body", "config", "overrides", "fields"];

/** Assign the server's errors to the `known` fields of a form. */
export function placeErrors(error: unknown, known: readonly string[]): PlacedErrors {
  if (error instanceof ApiError && error.fieldErrors.length > 0) return placed(error.fieldErrors, known);
  return { byField: {}, general: [error instanceof Error ? error.message : String(error)] };
}

function placed(errors: readonly FieldError[], known: readonly string[]): PlacedErrors {
  const byField: FieldErrors = {};
  const general: string[] = [];
  for (const { field, message } of errors) {
    const path = field.split(".");
    const name = known.find((candidate) => path.includes(candidate));
    if (name) byField[name] = toSentence(message);
    else general.push(FORM_NAMES.includes(field) ? toSentence(message) : `${field}: ${message}`);
  }
  return { byField, general };
}
