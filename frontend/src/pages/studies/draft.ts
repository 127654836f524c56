/** A study as it is written in the form, and what is sent of it. */

import type { StudySpecification } from "@/api/types";
import { gluedWords } from "@/config-form/draft";
import { isAmbiguous, parseNumber } from "@/config-form/numbers";

export interface AxisDraft {
  /** A field, or several that move together: "t_max, num_envs". */
  field: string;
  /** "5, 20", of several fields "(5, 2), (20, 8)", or a range. */
  values: string;
}

export type Sampler = NonNullable<StudySpecification["sampler"]>;

export interface StudyDraft {
  name: string;
  question: string;
  preset: string;
  axes: AxisDraft[];
  seeds: string;
  totalSteps: string;
  points: string;
  /** What draws the points; ranges are drawn from whatever this says. */
  sampler: Sampler;
  pruner: "none" | "median" | "halving";
  atOnce: string;
}

export const EMPTY: StudyDraft = {
  name: "",
  question: "",
  preset: "paac-cartpole",
  axes: [{ field: "learning_rate", values: "" }],
  seeds: "1-3",
  totalSteps: "",
  points: "20",
  sampler: "grid",
  pruner: "none",
  atOnce: "2",
};

type Axis = NonNullable<StudySpecification["axes"]>[number];

const RANGE = /^(log|uniform)\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)$/;

const JOINT = /\(([^()]*)\)/g;

/** "1e-4, 3e-4" as values, "log(1e-4, 1e-2)" as a range; what is no number stays a word. */
export function axisOf({ field: named, values }: AxisDraft): Axis {
  const fields = listed(named);
  const field = fields.length > 1 ? fields : named.trim();
  const range = RANGE.exec(values.trim());
  if (range) {
    const bounds = [valueOf(range[2] ?? ""), valueOf(range[3] ?? "")] as [number, number];
    return range[1] === "log" ? { field, log_uniform: bounds } : { field, uniform: bounds };
  }
  const together = Array.isArray(field) ? [...values.matchAll(JOINT)] : [];
  if (together.length === 0) return { field, values: listed(values).map(valueOf) };
  return { field, values: together.map(([, inside = ""]) => listed(inside).map(valueOf)) };
}

/** What cannot be understood of the axes, in words; null if all can. */
export function axesProblem({ axes }: StudyDraft): string | null {
  return axes.map(({ values }) => gluedWords(values)).find((problem) => problem !== null) ?? null;
}

function listed(written: string): string[] {
  return written
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}

function valueOf(written: string): string | number | boolean {
  if (written === "true" || written === "false") return written === "true";
  return Number.isFinite(Number(written)) ? Number(written) : written;
}

/** What may draw the points: a range has no values of which each could be taken. */
export function samplersOf(draft: StudyDraft): Sampler[] {
  const ranged = draft.axes.some(({ values }) => RANGE.test(values.trim()));
  return ranged ? ["tpe", "random"] : ["grid", "tpe", "random"];
}

/** What draws the points: what was chosen, where that can be. */
export function samplerOf(draft: StudyDraft): Sampler {
  const [usual = "grid", ...others] = samplersOf(draft);
  return others.includes(draft.sampler) ? draft.sampler : usual;
}

/** Whether the form can say an axis: lists as values are written in files alone, and kept when a study is cloned. */
const isWritable = ({ field, values }: Axis): boolean =>
  (Array.isArray(field) ? (values ?? []).flat() : (values ?? [])).every(
    (value) => ["number", "boolean"].includes(typeof value) || (typeof value === "string" && isWord(value)),
  );

/** A word that is read back as it is written. */
const isWord = (value: string) => !/[(),]/.test(value) && value.trim() === value && valueOf(value) === value;

/** What is sent: axes that are still empty are left out. */
export function specificationOf(draft: StudyDraft, base: Partial<StudySpecification>): StudySpecification {
  const written = draft.axes.filter(({ field, values }) => field !== "" && values.trim() !== "").map(axisOf);
  const axes = [...(base.axes ?? []).filter((axis) => !isWritable(axis)), ...written];
  const ofPresets = axes.some(({ field }) => (Array.isArray(field) ? field : [field]).includes("preset"));
  const sampler = samplerOf(draft);
  return {
    ...base,
    name: draft.name,
    question: draft.question,
    preset: ofPresets || base.config ? null : draft.preset,
    axes,
    seeds: draft.seeds,
    total_steps: numberOf(draft.totalSteps),
    sampler,
    pruner: draft.pruner,
    points: sampler === "grid" ? null : numberOf(draft.points),
    at_once: numberOf(draft.atOnce) ?? 2,
  };
}

/** What is no number is sent as it is written: the server says what would be right. */
function numberOf(written: string): number | null {
  if (written.trim() === "") return null;
  const number = isAmbiguous(written, true) ? null : parseNumber(written);
  return number ?? (written as unknown as number);
}

/** The form of a study that is to be started again. */
export function draftOf(asked: StudySpecification): StudyDraft {
  return {
    name: asked.name,
    question: asked.question ?? "",
    preset: asked.preset ?? "",
    axes: (asked.axes ?? []).filter(isWritable).map(writtenAxis),
    seeds: Array.isArray(asked.seeds) ? asked.seeds.join(", ") : String(asked.seeds ?? "1"),
    totalSteps: asked.total_steps ? String(asked.total_steps) : "",
    points: String(asked.points ?? EMPTY.points),
    sampler: asked.sampler ?? "grid",
    pruner: asked.pruner ?? "none",
    atOnce: String(asked.at_once ?? 2),
  };
}

function writtenAxis({ field, values, uniform, log_uniform }: Axis): AxisDraft {
  const name = typeof field === "string" ? field : field.join(", ");
  if (uniform) return { field: name, values: `uniform(${uniform.join(", ")})` };
  if (log_uniform) return { field: name, values: `log(${log_uniform.join(", ")})` };
  const written = (value: unknown) => (Array.isArray(value) ? `(${value.join(", ")})` : String(value));
  return { field: name, values: (values ?? []).map(written).join(", ") };
}
