/** Computed columns as specs: "compute.Efficiency=best_return / hours". The title may be empty. */

import { parseSpec } from "./columnSpecs";

export const COMPUTED_PREFIX = "compute.";
/** The server computes at most this many columns. */
export const MAX_COMPUTED = 10;

export interface ComputedColumn {
  title: string;
  expression: string;
}

export function computedId({ title, expression }: ComputedColumn): string {
  return `${COMPUTED_PREFIX}${title}=${expression}`;
}

/** Return the computed column with this id, or null if it is another column. */
export function parseComputed(id: string): ComputedColumn | null {
  const [, title, expression] = /^compute\.([^=]*)=(.+)$/.exec(id) ?? [];
  return title !== undefined && expression ? { title, expression } : null;
}

/** Return the name of an expression in requests. It does not change when other columns do. */
export function computedName(expression: string): string {
  // FNV-1a
  let hash = 0x811c9dc5;
  for (const character of expression) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return `c_${(hash >>> 0).toString(36)}`;
}

/** Return the computed columns among these. */
export function computedColumns(columns: readonly string[]): ComputedColumn[] {
  return columns.flatMap((text) => parseComputed(parseSpec(text).id) ?? []);
}

/** Return the definitions that the list must compute for these columns. */
export function computedInColumns(columns: readonly string[]): string[] {
  const expressions = [...new Set(computedColumns(columns).map(({ expression }) => expression))];
  return expressions
    .slice(0, MAX_COMPUTED)
    .map((expression) => `${computedName(expression)} = ${expression}`);
}
