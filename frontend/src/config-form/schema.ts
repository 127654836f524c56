/** Form fields read from the JSON schema of the configuration. */

import type { ConfigValue, RunConfig } from "@/api/types";

/** The parts of JSON schema that pydantic uses for a configuration. */
export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  type?: string;
  title?: string;
  description?: string;
  default?: ConfigValue;
  const?: ConfigValue;
  enum?: ConfigValue[];
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  group?: string;
  changeable?: string;
  essential?: boolean;
  summary?: string;
  paper?: string;
  shape_fields?: string[];
}

export type FieldKind = "integer" | "number" | "numbers" | "boolean" | "choice" | "text";

export interface Range {
  min?: number;
  max?: number;
  above?: number;
  below?: number;
}

export interface FormField {
  name: string;
  title: string;
  help: string;
  group: string;
  /** Why a live run can change it. Empty if it cannot. */
  changeable: string;
  /** True if the form shows it first. */
  isEssential: boolean;
  kind: FieldKind;
  optional: boolean;
  initial: ConfigValue;
  choices: string[];
  /** Range of the number, or of each number in a list. */
  range: Range;
  /** Allowed count of numbers in a list. */
  count: Range;
}

/** Form of one method. */
export interface Variant {
  algorithm: string;
  title: string;
  /** What the method is, and its paper, in a few words. */
  summary: string;
  fields: FormField[];
  /** Fields that must match the weights of a checkpoint. */
  shapeFields: readonly string[];
}

/** Follow $ref and single-item allOf to the actual schema. */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (schema.$ref) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    if (!target)
      throw new Error(`The configuration schema refers to ${schema.$ref}, which it does not define.`);
    const { $ref: _, ...beside } = schema;
    return { ...resolve(target, root), ...beside };
  }
  const [only, ...rest] = schema.allOf ?? [];
  if (only && rest.length === 0) {
    const { allOf: _, ...beside } = schema;
    return { ...resolve(only, root), ...beside };
  }
  return schema;
}

/** Return the methods of the schema: the branches of its union, or its single object. */
export function variantsOf(root: JsonSchema): Variant[] {
  return (root.oneOf ?? root.anyOf ?? [root]).map((branch) => {
    const schema = resolve(branch, root);
    const properties = schema.properties ?? {};
    const algorithm = resolve(properties["algorithm"] ?? {}, root);
    const name = algorithm.const ?? algorithm.default ?? schema.title ?? "";
    return {
      algorithm: String(name),
      title: schema.title ?? String(name),
      summary: [schema.summary || schema.description, schema.paper].filter(Boolean).join(". "),
      fields: Object.entries(properties).map(([key, property]) => fieldOf(key, property, root)),
      shapeFields: schema.shape_fields ?? [],
    };
  });
}

export function variantFor(
  variants: readonly Variant[],
  algorithm: ConfigValue | undefined,
): Variant | undefined {
  return variants.find((variant) => variant.algorithm === algorithm) ?? variants[0];
}

function fieldOf(name: string, property: JsonSchema, root: JsonSchema): FormField {
  const outer = resolve(property, root);
  const branches = (outer.anyOf ?? []).map((branch) => resolve(branch, root));
  const optional = branches.some((branch) => branch.type === "null");
  const inner = branches.find((branch) => branch.type !== "null") ?? {};
  const schema = { ...inner, ...outer };
  const choices = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const kind = kindOf(schema, choices);
  return {
    name,
    title: schema.title ?? name,
    help: schema.description ?? "",
    group: schema.group ?? "Other",
    changeable: schema.changeable ?? "",
    isEssential: schema.essential ?? false,
    kind,
    optional,
    initial: schema.default ?? schema.const ?? null,
    choices: choices.map(String),
    range: rangeOf(kind === "numbers" ? resolve(schema.items ?? {}, root) : schema),
    count: countOf(schema),
  };
}

function kindOf(schema: JsonSchema, choices: ConfigValue[]): FieldKind {
  if (choices.length > 0) return "choice";
  if (schema.type === "integer" || schema.type === "number" || schema.type === "boolean") return schema.type;
  return schema.type === "array" ? "numbers" : "text";
}

function rangeOf(schema: JsonSchema): Range {
  const range: Range = {};
  if (schema.minimum !== undefined) range.min = schema.minimum;
  if (schema.maximum !== undefined) range.max = schema.maximum;
  if (schema.exclusiveMinimum !== undefined) range.above = schema.exclusiveMinimum;
  if (schema.exclusiveMaximum !== undefined) range.below = schema.exclusiveMaximum;
  return range;
}

function countOf({ minItems, maxItems }: JsonSchema): Range {
  return {
    ...(minItems !== undefined && { min: minItems }),
    ...(maxItems !== undefined && { max: maxItems }),
  };
}

/** Return a complete configuration with the defaults of a method. */
export function defaultsOf(variant: Variant): RunConfig {
  return Object.fromEntries(variant.fields.map((field) => [field.name, field.initial]));
}

/** Return the fields by section, in the order of the schema. */
export function sectionsOf(fields: FormField[]): [string, FormField[]][] {
  const sections = new Map<string, FormField[]>();
  for (const field of fields) sections.set(field.group, [...(sections.get(field.group) ?? []), field]);
  return [...sections];
}

/** Split fields into the essential ones and the others. */
export function splitEssential(fields: FormField[]): { essential: FormField[]; others: FormField[] } {
  return {
    essential: fields.filter((field) => field.isEssential),
    others: fields.filter((field) => field.name !== "algorithm" && !field.isEssential),
  };
}

/** Return the fields whose name, title or help contains all words. Without words, return all. */
export function searchFields(fields: readonly FormField[], text: string): FormField[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return fields.filter(({ name, title, help }) => {
    const searched = [name, title, help].join(" ").toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

/** Return the first clause of a help text. */
export const shortHelp = (help: string): string => /^.*?(?=; |\. (?=[A-Z])|\.$|$)/s.exec(help)?.[0] ?? help;
