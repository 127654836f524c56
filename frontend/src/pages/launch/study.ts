/** Conversion between the form and a study. */

import { ApiError } from "@/api/problem";
import type { Preset, RunConfig, Study, StudySpecification } from "@/api/types";
import { type Draft, overridesOf } from "@/config-form/draft";
import { isAmbiguous, parseNumber } from "@/config-form/numbers";
import { nearestPreset, type StartingPoint } from "@/config-form/reference";
import { type FormField, type Variant, variantFor } from "@/config-form/schema";
import {
  canVary,
  type Series,
  type Single,
  evenlySpaced,
  formatRange,
  formatValues,
} from "@/config-form/series";

export type Axis = NonNullable<StudySpecification["axes"]>[number];
export type Sampler = NonNullable<StudySpecification["sampler"]>;
export type Until = NonNullable<StudySpecification["until"]>;
export type Pruner = NonNullable<StudySpecification["pruner"]>;

/** Settings of a study besides its configuration. */
export interface StudyOptions {
  sampler: Sampler;
  points: string;
  pruner: Pruner;
  /** When the study stops adding seeds. Empty for a fixed number. */
  until: Until | "";
  maxSeeds: string;
  maxConcurrentRuns: string;
  /** Presets to compare. Without any, all runs use the form's configuration. */
  presets: string[];
  /** Axes without a form field: fields that vary together. */
  others: Axis[];
}

export const NO_OPTIONS: StudyOptions = {
  sampler: "grid",
  points: "20",
  pruner: "none",
  until: "",
  maxSeeds: "20",
  maxConcurrentRuns: "",
  presets: [],
  others: [],
};
export const OPTION_NAMES: readonly string[] = [
  "sampler",
  "points",
  "pruner",
  "until",
  "max_seeds",
  "max_concurrent_runs",
  "preset",
];

/** TPE learns from finished runs, so few runs are queued concurrently. */
const TPE_CONCURRENT_RUNS = 2;
const CONCURRENT_RUNS = 100;

interface Described {
  name: string;
  question: string;
  config: RunConfig;
  /** Values of the form's preset. */
  reference: RunConfig;
  fields: readonly FormField[];
  series: Record<string, Series>;
  options: StudyOptions;
}

/** Return the study of a configuration with varied fields. */
export function studyOf(described: Described): StudySpecification {
  const { name, question, config, options, fields } = described;
  const { seed: seeds, ...series } = described.series;
  const varied = Object.entries(series);
  const compared: Axis[] = options.presets.length > 0 ? [{ field: "preset", values: options.presets }] : [];
  const isDrawn = options.sampler !== "grid" && compared.length + varied.length + options.others.length > 0;
  const isWhole = (named: string) => fields.find((field) => field.name === named)?.kind === "integer";
  const own = varied.map(([field, each]) => axisOf(field, each, isDrawn, isWhole(field)));
  const axes = [...compared, ...own, ...options.others];
  const moved = new Set(axes.flatMap(({ field }) => field));
  const base = moved.has("preset")
    ? { changes: without(overridesOf(config, described.reference), [...moved, "algorithm", "seed"]) }
    : { config };
  return {
    name,
    question,
    ...base,
    axes,
    seeds: seeds?.kind === "values" ? seeds.values.map(Number) : [Number(config["seed"] ?? 1)],
    sampler: isDrawn ? options.sampler : "grid",
    points: isDrawn ? numberOf(options.points) : null,
    pruner: options.pruner,
    ...(options.until !== "" && { until: options.until, max_seeds: numberOf(options.maxSeeds) ?? undefined }),
    max_concurrent_runs:
      numberOf(options.maxConcurrentRuns) ??
      (isDrawn && options.sampler === "tpe" ? TPE_CONCURRENT_RUNS : CONCURRENT_RUNS),
  };
}

function axisOf(field: string, series: Series, isDrawn: boolean, isWhole: boolean): Axis {
  if (series.kind === "values") return { field, values: series.values };
  if (!isDrawn) return { field, values: evenlySpaced(series, isWhole) };
  return series.kind === "log" ? { field, log_uniform: series.bounds } : { field, uniform: series.bounds };
}

const without = (values: RunConfig, names: readonly string[]): RunConfig =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));

/** Send invalid text unchanged, so that the server returns an error. */
function numberOf(text: string): number | null {
  if (text.trim() === "") return null;
  const number = isAmbiguous(text, true) ? null : parseNumber(text);
  return number ?? (text as unknown as number);
}

/** Starting point of the form for a cloned study. */
export interface StudyStart {
  start: StartingPoint;
  options: StudyOptions;
}

export function studyStart(
  study: Study,
  presets: readonly Preset[],
  variants: readonly Variant[],
): StudyStart {
  const specification = study.specification;
  const axes = specification.axes ?? [];
  const compared = axes.find(({ field }) => field === "preset")?.values?.map(String) ?? [];
  const named = presets.find(({ name }) => name === (specification.preset ?? compared[0]));
  const values: RunConfig = {
    ...((specification.config as RunConfig | null | undefined) ?? named?.config ?? presets[0]?.config),
    ...(specification.changes as RunConfig | undefined),
    ...(specification.total_steps && { total_steps: specification.total_steps }),
  };
  const fields = variantFor(variants, values["algorithm"])?.fields ?? [];
  const typed: Draft = {};
  const others: Axis[] = [];
  for (const axis of axes.filter(({ field }) => field !== "preset")) {
    const field = fields.find(({ name }) => name === axis.field);
    const text = field && axisText(field, axis);
    if (field && text !== undefined) typed[field.name] = text;
    else others.push(axis);
  }
  const seed = fields.find(({ name }) => name === "seed");
  if (seed) typed["seed"] = seedsText(seed, specification.seeds);
  const nearest = named ?? nearestPreset(presets, values);
  const reference = nearest
    ? { title: nearest.title, values: nearest.config, preset: nearest.name }
    : { title: `study ${study.id}`, values, preset: null };
  return {
    start: { key: `study ${study.id}`, values, reference, typed },
    options: {
      sampler: specification.sampler ?? "grid",
      points: String(specification.points ?? NO_OPTIONS.points),
      pruner: specification.pruner ?? "none",
      until: specification.until ?? "",
      maxSeeds: String(specification.max_seeds ?? NO_OPTIONS.maxSeeds),
      maxConcurrentRuns:
        specification.max_concurrent_runs === undefined ? "" : String(specification.max_concurrent_runs),
      presets: compared,
      others,
    },
  };
}

function seedsText(field: FormField, seeds: StudySpecification["seeds"]): string {
  if (typeof seeds === "number") return seeds > 1 ? `1-${seeds}` : "1";
  return Array.isArray(seeds) ? formatValues(field, seeds) : (seeds ?? "1");
}

/** Return an axis as text for its field, or undefined if the field cannot show it. */
function axisText(field: FormField, { values, uniform, log_uniform }: Axis): string | undefined {
  if (!canVary(field)) return undefined;
  const bounds = log_uniform ?? uniform;
  if (bounds) {
    const [low, high] = bounds.map((end) => formatValues(field, [end]));
    return formatRange({
      kind: log_uniform ? "log" : "uniform",
      low: low ?? "",
      high: high ?? "",
      count: "",
    });
  }
  const kind = field.kind === "boolean" ? "boolean" : field.kind === "choice" ? "string" : "number";
  const singles = values ?? [];
  return singles.every((value) => typeof value === kind)
    ? formatValues(field, singles as Single[])
    : undefined;
}

/** Return the server's errors with the names of form fields instead of axes. */
export function namedAsInForm(error: unknown, { axes = [] }: StudySpecification): unknown {
  if (!(error instanceof ApiError)) return error;
  const errors = error.fieldErrors.map(({ field, message }) => {
    const place = /^axes\.(\d+)/.exec(field)?.[1];
    const moved = place === undefined ? undefined : axes[Number(place)]?.field;
    return { field: field === "seeds" ? "seed" : typeof moved === "string" ? moved : field, message };
  });
  return errors.length > 0 ? new ApiError(error.status, { errors }) : error;
}
