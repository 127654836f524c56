import { useState } from "react";
import type { ConfigValue, RunConfig } from "@/api/types";
import { type Draft, draftOf, type FieldErrors, isChanged, readDraft, written } from "./draft";
import { carryOver, type FormField, type Variant, variantFor } from "./schema";
import { keyOf, type Reference, type StartingPoint } from "./startingPoint";

export interface ConfigDraft {
  fields: FormField[];
  variant: Variant | undefined;
  draft: Draft;
  reference: Reference;
  /** What stands beside the fields now: of the fields left once, or of all after a try to submit. */
  errors: FieldErrors;
  /** Values that can be read, and every error there is. */
  values: RunConfig;
  allErrors: FieldErrors;
  set: (name: string, typed: string | boolean) => void;
  leave: (name: string) => void;
  reset: (name: string) => void;
  chooseMethod: (variant: Variant, reference: Reference) => void;
  showAllErrors: () => void;
  takeServerErrors: (errors: FieldErrors) => void;
}

interface State {
  /** What the form last began with from outside, and what it stands for since. */
  begun: string;
  key: string;
  reference: Reference;
  algorithm: ConfigValue;
  draft: Draft;
  left: ReadonlySet<string>;
  server: FieldErrors;
}

/** The configuration being written: it begins anew when the key of its starting point changes. */
export function useConfigDraft(variants: Variant[], start: StartingPoint): ConfigDraft {
  const begin = (key: string, reference: Reference, values: RunConfig): State => {
    const fields = variantFor(variants, values["algorithm"])?.fields ?? [];
    const algorithm = values["algorithm"] ?? null;
    const draft = draftOf(values, fields);
    return { begun: start.key, key, reference, algorithm, draft, left: new Set(), server: {} };
  };
  const [kept, setState] = useState(() => begin(start.key, start.reference, start.values));
  let state = kept;
  if (kept.begun !== start.key) {
    // A method that was chosen here comes back as the page's new address, and is no reason to begin anew.
    state =
      kept.key === start.key
        ? { ...kept, begun: start.key }
        : begin(start.key, start.reference, start.values);
    setState(state);
  }

  const variant = variantFor(variants, state.algorithm);
  const fields = variant?.fields ?? [];
  const { values, errors: allErrors } = readDraft(state.draft, fields);
  const shownErrors = Object.entries(allErrors).filter(([name]) => state.left.has(name));

  const set = (name: string, typed: string | boolean) =>
    setState((current) => {
      const { [name]: _, ...server } = current.server;
      return { ...current, server, draft: { ...current.draft, [name]: typed } };
    });

  return {
    fields,
    variant,
    draft: state.draft,
    reference: state.reference,
    values,
    allErrors,
    errors: { ...state.server, ...Object.fromEntries(shownErrors) },
    set,
    leave(name) {
      const field = fields.find((candidate) => candidate.name === name);
      const value = values[name];
      // What was understood is written back: 10M becomes 10_000_000.
      if (field && typeof value === "number") set(name, written(field, value));
      setState((current) => ({ ...current, left: new Set(current.left).add(name) }));
    },
    reset(name) {
      const field = fields.find((candidate) => candidate.name === name);
      if (field) set(name, written(field, state.reference.values[name] ?? field.initial));
    },
    chooseMethod(next, reference) {
      const own = fields.filter((field) =>
        isChanged(field, state.draft[field.name], state.reference.values[field.name] ?? field.initial),
      );
      const carried = carryOver(values, ["env", ...own.map(({ name }) => name)], next, reference.values);
      setState(begin(keyOf(reference), reference, carried));
    },
    showAllErrors() {
      setState((current) => ({ ...current, left: new Set(fields.map((field) => field.name)) }));
    },
    takeServerErrors(server) {
      setState((current) => ({ ...current, server }));
    },
  };
}

export const inputId = (name: string) => `config-${name}`;

/** Move to the input of the first field, in the order shown, that has an error. */
export function focusFirst(fields: readonly { name: string }[], errors: FieldErrors): void {
  const first = fields.find((field) => errors[field.name] !== undefined);
  if (!first) return;
  // After the section that holds it has been opened.
  requestAnimationFrame(() => {
    const input = document.getElementById(inputId(first.name));
    input?.scrollIntoView({ block: "center" });
    input?.focus();
  });
}
