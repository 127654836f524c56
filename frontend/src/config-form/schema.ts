/** From the configuration's JSON schema to the fields of the form. */

import type { ConfigValue, RunConfig } from "@/api/types";

/** The part of JSON schema that pydantic writes for a configuration. */
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
  kind: FieldKind;
  optional: boolean;
  initial: ConfigValue;
  choices: string[];
  /** Of the number, or of each number of a list. */
  range: Range;
  /** How many numbers a list may have. */
  count: Range;
}

/** One method's form. */
export interface Variant {
  algorithm: string;
  title: string;
  description: string;
  fields: FormField[];
  /** Fields that a checkpoint's weights are bound to. */
  shapeFields: readonly string[];
}

/** Follow $ref and a lone allOf until the schema itself is found. */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (schema.$ref) {
    const target = root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    if (!target)
      throw new Error(`The configuration schema points at ${schema.$ref}, which it does not define.`);
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

/** Every algorithm of the schema: the branches of its union, or the one object that it is. */
export function variantsOf(root: JsonSchema): Variant[] {
  return (root.oneOf ?? root.anyOf ?? [root]).map((branch) => {
    const schema = resolve(branch, root);
    const properties = schema.properties ?? {};
    const algorithm = resolve(properties["algorithm"] ?? {}, root);
    const name = algorithm.const ?? algorithm.default ?? schema.title ?? "";
    return {
      algorithm: String(name),
      title: schema.title ?? String(name),
      description: schema.description ?? "",
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

/** The variant's defaults, as a complete configuration. */
export function defaultsOf(variant: Variant): RunConfig {
  return Object.fromEntries(variant.fields.map((field) => [field.name, field.initial]));
}

/** Fields by section, sections in the order in which the schema first names them. */
export function sectionsOf(fields: FormField[]): [string, FormField[]][] {
  const sections = new Map<string, FormField[]>();
  for (const field of fields) sections.set(field.group, [...(sections.get(field.group) ?? []), field]);
  return [...sections];
}

const ESSENTIAL = ["env", "total_steps", "seed", "num_envs", "num_actors", "num_agents", "learning_rate"];

/** The few fields most launches touch, and the others. */
export function splitEssential(fields: FormField[]): { essential: FormField[]; others: FormField[] } {
  return {
    essential: ESSENTIAL.flatMap((name) => fields.filter((field) => field.name === name)),
    others: fields.filter((field) => field.name !== "algorithm" && !ESSENTIAL.includes(field.name)),
  };
}
