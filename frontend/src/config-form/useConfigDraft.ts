import { useEffect, useState } from "react";
import type { ConfigValue, RunConfig } from "@/api/types";
import { carryOver, type Draft, draftOf, type FieldErrors, isChanged, readDraft, written } from "./draft";
import { forgetTyped, readTyped, writeTyped } from "./keptDraft";
import { firstOf, readAllSeries, type Series } from "./series";
import { type FormField, type Variant, variantFor } from "./schema";
import { keyOf, type Reference, type StartingPoint } from "./reference";

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
  /** Fields with several values, of which `values` has the first; only a form that may make a study has any. */
  series: Record<string, Series>;
  several: boolean;
  set: (name: string, typed: string | boolean) => void;
  leave: (name: string) => void;
  reset: (name: string) => void;
  /** Begin with this reference in an environment, with all that was changed before. */
  chooseMethod: (variant: Variant, reference: Reference, env: ConfigValue) => void;
  showAllErrors: () => void;
  takeServerErrors: (errors: FieldErrors) => void;
  /** Whether the draft is one that was left before. */
  restored: boolean;
  /** Give up what was written here. */
  beginAnew: () => void;
  /** Keep the draft no longer: it has been launched. */
  forget: () => void;
}

interface State {
  /** What the form last began with from outside, and what it stands for since. */
  begun: string;
  key: string;
  reference: Reference;
  algorithm: ConfigValue;
  /** The inputs as the form began, and as they are. */
  began: Draft;
  draft: Draft;
  left: ReadonlySet<string>;
  server: FieldErrors;
  restored: boolean;
}

/**
 * The configuration being written: it begins anew when the key of its starting point changes. With a name, it is kept
 * until it is forgotten, so that a reload or a way back loses nothing.
 */
export function useConfigDraft(
  variants: Variant[],
  start: StartingPoint,
  name?: string,
  several = false,
): ConfigDraft {
  const begin = (key: string, reference: Reference, values: RunConfig, typed: Draft = {}): State => {
    const fields = variantFor(variants, values["algorithm"])?.fields ?? [];
    const algorithm = values["algorithm"] ?? null;
    const began = { ...draftOf(values, fields), ...typed };
    return {
      begun: start.key,
      key,
      reference,
      algorithm,
      began,
      draft: began,
      left: new Set(),
      server: {},
      restored: false,
    };
  };
  const beginHere = () => begin(start.key, start.reference, start.values, start.typed);
  const comeHere = () => (name ? restored(beginHere(), readTyped(name, start.key)) : beginHere());
  const [kept, setState] = useState(comeHere);
  let state = kept;
  if (kept.begun !== start.key) {
    // A method that was chosen here comes back as the page's new address, and is no reason to begin anew.
    state = kept.key === start.key ? { ...kept, begun: start.key } : comeHere();
    setState(state);
  }

  const { key, began, draft } = state;
  useEffect(() => {
    if (name) writeTyped(name, key, draft, began);
  }, [name, key, draft, began]);

  const variant = variantFor(variants, state.algorithm);
  const fields = variant?.fields ?? [];
  const { values, errors: allErrors, series } = readAll(state.draft, fields, several);
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
    series,
    several,
    errors: { ...state.server, ...Object.fromEntries(shownErrors) },
    set,
    leave(name) {
      const field = fields.find((candidate) => candidate.name === name);
      const value = values[name];
      // What was understood is written back: 10M becomes 10_000_000.
      if (field && typeof value === "number" && !series[name]) set(name, written(field, value));
      setState((current) => ({ ...current, left: new Set(current.left).add(name) }));
    },
    reset(name) {
      const field = fields.find((candidate) => candidate.name === name);
      if (field) set(name, written(field, state.reference.values[name] ?? field.initial));
    },
    chooseMethod(next, reference, env) {
      const own = fields.filter((field) =>
        isChanged(field, state.draft[field.name], state.reference.values[field.name] ?? field.initial),
      );
      const begun = begin(keyOf(reference, env), reference, { ...reference.values, env });
      const kept = own.map(({ name }) => name).filter((name) => name !== "env");
      const carried = carryOver(state.draft, kept, next);
      setState({ ...begun, draft: { ...begun.draft, ...carried } });
    },
    showAllErrors() {
      setState((current) => ({ ...current, left: new Set(fields.map((field) => field.name)) }));
    },
    takeServerErrors(server) {
      setState((current) => ({ ...current, server }));
    },
    restored: state.restored,
    beginAnew: () => setState(beginHere()),
    forget() {
      if (name) forgetTyped(name, state.key);
    },
  };
}

/** What the inputs mean; where several values are allowed, the first of each stands among the values. */
function readAll(draft: Draft, fields: FormField[], several: boolean) {
  const { values, errors } = readDraft(draft, fields);
  if (!several) return { values, errors, series: {} };
  const found = readAllSeries(draft, fields);
  const right = Object.entries(errors).filter(([name]) => !found.series[name]);
  const firsts = Object.entries(found.series).map(([name, each]) => [name, firstOf(each)]);
  return {
    values: { ...values, ...Object.fromEntries(firsts) } as RunConfig,
    errors: { ...Object.fromEntries(right), ...found.errors },
    series: found.series,
  };
}

/** A form that begins, with what was typed and left before; fields that it no longer has are left out. */
function restored(state: State, typed: Draft | null): State {
  const known = Object.entries(typed ?? {}).filter(([field]) => field in state.began);
  if (known.length === 0) return state;
  return { ...state, draft: { ...state.began, ...Object.fromEntries(known) }, restored: true };
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
