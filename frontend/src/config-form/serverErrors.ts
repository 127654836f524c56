/** Where the form shows what the server refused. */

import { ApiError, type FieldError } from "@/api/problem";
import type { FieldErrors } from "./draft";

export interface PlacedErrors {
  byField: FieldErrors;
  /** Errors of no field that the form has. */
  elsewhere: string[];
}

// The names under which the server refuses several fields together.
const WHOLE = ["", "body", "config", "overrides"];

/** Put each of the server's errors beside its field, in a form with the fields `known`. */
export function placeErrors(error: unknown, known: readonly string[]): PlacedErrors {
  if (error instanceof ApiError && error.fieldErrors.length > 0) return placed(error.fieldErrors, known);
  return { byField: {}, elsewhere: [error instanceof Error ? error.message : String(error)] };
}

function placed(errors: readonly FieldError[], known: readonly string[]): PlacedErrors {
  const byField: FieldErrors = {};
  const elsewhere: string[] = [];
  for (const { field, message } of errors) {
    const path = field.split(".");
    const name = known.find((candidate) => path.includes(candidate));
    if (name) byField[name] = sentence(message);
    else elsewhere.push(WHOLE.includes(field) ? sentence(message) : `${field}: ${message}`);
  }
  return { byField, elsewhere };
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? "" : "."}`;
}
