/** Configurations as YAML, TOML or JSON. The server reads them. */

import type { ConfigValue, RunConfig } from "@/api/types";

export type TextFormat = "yaml" | "toml" | "json";

/** Return a configuration as text with one setting per line. TOML has no empty values, so it leaves them out. */
export function configText(values: RunConfig, format: TextFormat): string {
  if (format === "json") return `${JSON.stringify(values, null, 2)}\n`;
  const separator = format === "toml" ? " = " : ": ";
  return Object.entries(values)
    .filter(([, value]) => format !== "toml" || value !== null)
    .map(([name, value]) => `${name}${separator}${scalar(value)}\n`)
    .join("");
}

/** JSON values are valid in TOML and YAML, but many YAML readers take 1e-7 for text. */
function scalar(value: ConfigValue): string {
  if (Array.isArray(value)) return `[${value.map(scalar).join(", ")}]`;
  const text = JSON.stringify(value);
  return typeof value === "number" ? text.replace(/^(-?\d+)e/, "$1.0e") : text;
}
