import { useEffect, useState } from "react";
import type { ConfigValue, RunConfig } from "@/api/types";
import { afterPress } from "@/ui/afterPress";
import { tabStorage } from "@/ui/pageStorage";
import { carryOver, type Draft, draftOf, type FieldErrors, isChanged, readDraft, written } from "./draft";
import { keyOf, type Reference, type StartingPoint } from "./reference";
import { type FormField, type Variant, variantFor } from "./schema";
import { firstOf, readAllSeries, type Series } from "./series";
import { placeErrors } from "./serverErrors";

export interface ConfigDraft {
  fields: FormField[];
  variant: Variant | undefined;
  draft: Draft;
  reference: Reference;
  /** The shown errors: of visited fields, or of all fields after an attempt to submit. */
  errors: FieldErrors;
  /** The valid values, and all errors. */
  values: RunConfig;
  allErrors: FieldErrors;
  /** Fields with several values, if the form can make a study. `values` has the first of each. */
  series: Record<string, Series>;
  several: boolean;
  set: (name: string, typed: string | boolean) => void;
  leave: (name: string) => void;
  reset: (name: string) => void;
  /** The fields that differ from the reference. */
  changed: FormField[];
  /** Reset all changed fields except the environment, which is chosen before the reference. */
  resetAll: () => void;
  /** Start from this reference in an environment. Keep all changes, and apply these values. */
  chooseMethod: (variant: Variant, reference: Reference, env: ConfigValue, values?: RunConfig) => void;
  /** Set these fields. */
  apply: (values: RunConfig) => void;
  showAllErrors: () => void;
  takeServerErrors: (errors: FieldErrors) => void;
  /** True if the draft was restored. */
  restored: boolean;
  /** Discard the draft and start over. */
  startOver: () => void;
  /** Remove the stored draft after a launch. */
  forget: () => void;
}

interface State {
  /** The last external starting point, and the current one. */
  begun: string;
  key: string;
  reference: Reference;
  algorithm: ConfigValue;
  /** The initial and the current inputs. */
  began: Draft;
  draft: Draft;
  left: ReadonlySet<string>;
  server: FieldErrors;
  restored: boolean;
}

/**
 * State of the configuration form. It starts over when the key of its starting point changes. With a name, the draft is
 * stored in the browser tab and survives a reload and the back button.
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
  const startFrom = () => begin(start.key, start.reference, start.values, start.typed);
  const adoptStart = () => (name ? restored(startFrom(), readTyped(name, start.key)) : startFrom());
  const [kept, setState] = useState(adoptStart);
  let state = kept;
  if (kept.begun !== start.key) {
    // Choosing a method here changes the page's URL, which must not start the form over.
    state = kept.key === start.key ? { ...kept, begun: start.key } : adoptStart();
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

  const referenceOf = (field: FormField) => state.reference.values[field.name] ?? field.initial;
  const changed = fields.filter((field) => isChanged(field, state.draft[field.name], referenceOf(field)));

  return {
    fields,
    variant,
    changed,
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
      // Rewrite the input in the standard format: 10M becomes 10_000_000.
      if (field && typeof value === "number" && !series[name]) set(name, written(field, value));
      afterPress(() => setState((current) => ({ ...current, left: new Set(current.left).add(name) })));
    },
    reset(name) {
      const field = fields.find((candidate) => candidate.name === name);
      if (field) set(name, written(field, referenceOf(field)));
    },
    resetAll() {
      for (const field of changed)
        if (field.name !== "env") set(field.name, written(field, referenceOf(field)));
    },
    chooseMethod(next, reference, env, values = {}) {
      const begun = begin(keyOf(reference, env), reference, { ...reference.values, env });
      const kept = changed.map(({ name }) => name).filter((name) => name !== "env");
      const carried = carryOver(state.draft, kept, next);
      setState({ ...begun, draft: { ...begun.draft, ...carried, ...draftOfSome(values, next.fields) } });
    },
    apply(given) {
      for (const [name, typed] of Object.entries(draftOfSome(given, fields))) set(name, typed);
    },
    showAllErrors() {
      setState((current) => ({ ...current, left: new Set(fields.map((field) => field.name)) }));
    },
    takeServerErrors(server) {
      setState((current) => ({ ...current, server }));
    },
    restored: state.restored,
    startOver: () => setState(startFrom()),
    forget() {
      if (name) forgetTyped(name, state.key);
    },
  };
}

/** Return the inputs of the given values only. */
const draftOfSome = (values: RunConfig, fields: FormField[]): Draft =>
  draftOf(
    values,
    fields.filter(({ name }) => name in values),
  );

/** Return the values of the inputs. If several values are allowed, use the first of each. */
function readAll(draft: Draft, fields: FormField[], several: boolean) {
  const { values, errors } = readDraft(draft, fields);
  if (!several) return { values, errors, series: {} };
  const found = readAllSeries(draft, fields);
  const right = Object.entries(errors).filter(([name]) => !found.series[name]);
  const firstValues = Object.entries(found.series).map(([name, each]) => [name, firstOf(each)]);
  return {
    values: { ...values, ...Object.fromEntries(firstValues) } as RunConfig,
    errors: { ...Object.fromEntries(right), ...found.errors },
    series: found.series,
  };
}

/** Return the initial state with the restored inputs, without fields that no longer exist. */
function restored(state: State, typed: Draft | null): State {
  const known = Object.entries(typed ?? {}).filter(([field]) => field in state.began);
  if (known.length === 0) return state;
  return { ...state, draft: { ...state.began, ...Object.fromEntries(known) }, restored: true };
}

/** Show errors at their fields, and focus the first of them. */
export function showErrors(config: ConfigDraft, byField: FieldErrors): void {
  config.takeServerErrors(byField);
  focusFirst(config.fields, byField);
}

/** Show the server's errors at their fields. Return those that belong to no field. */
export function showServerErrors(config: ConfigDraft, error: unknown): string[] {
  const { byField, general } = placeErrors(
    error,
    config.fields.map(({ name }) => name),
  );
  showErrors(config, byField);
  return general;
}

export const inputId = (name: string) => `config-${name}`;

/** Focus the first field with an error, in the order shown. */
export function focusFirst(fields: readonly { name: string }[], errors: FieldErrors): void {
  const first = fields.find((field) => errors[field.name] !== undefined);
  if (!first) return;
  // Wait until its section is open.
  requestAnimationFrame(() => {
    const input = document.getElementById(inputId(first.name));
    input?.scrollIntoView({ block: "center" });
    input?.focus();
  });
}

const storageKey = (name: string, key: string) => `arcadia-typed-${name}-${key}`;

/** Return the fields typed in a named form for this starting point. */
const readTyped = (name: string, key: string) => tabStorage.read<Draft>(storageKey(name, key));

/** Store only the fields that differ from the initial draft. */
function writeTyped(name: string, key: string, draft: Draft, initial: Draft): void {
  const typed = Object.entries(draft).filter(([field, text]) => text !== initial[field]);
  if (typed.length > 0) tabStorage.keep(storageKey(name, key), Object.fromEntries(typed));
  else forgetTyped(name, key);
}

const forgetTyped = (name: string, key: string) => tabStorage.forget(storageKey(name, key));
