/** Parsing and formatting of numbers such as 1e-3, 0,003, 10M, 115_000_000 and 2.5k. */

const SUFFIXES: Record<string, number> = { "": 0, k: 3, m: 6, b: 9, g: 9, t: 12 };
const NUMBER = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:e([+-]?\d+))?([kmbgt]?)$/i;

const GROUPED = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?!\d)/;
const ONE_GROUP = /^[+-]?[1-9]\d{0,2},\d{3}(?![\d,.])/;

const withoutSeparators = (text: string) => text.replace(/[\s_\u00a0\u202f']/g, "").replace("−", "-");

/** Return true if a comma can group digits or separate decimals, as in 1,500. `whole`: without decimals. */
export function isAmbiguous(text: string, whole: boolean): boolean {
  const digitsOnly = withoutSeparators(text);
  return ONE_GROUP.test(digitsOnly) && !(whole && /\d$/.test(digitsOnly) && !/e/i.test(digitsOnly));
}

/** Remove commas that group digits, and replace a decimal comma by a point. */
function normalizeCommas(digitsOnly: string): string {
  return GROUPED.test(digitsOnly)
    ? digitsOnly.replaceAll(",", "")
    : digitsOnly.replace(/^([^,.]*),(?=\d)([^,.]*)$/, "$1.$2");
}

/** Parse a number, or return null. 1,500 is read as grouped, so call isAmbiguous first. */
export function parseNumber(text: string): number | null {
  const found = NUMBER.exec(normalizeCommas(withoutSeparators(text)));
  if (!found) return null;
  const [, digits, exponent = "0", suffix = ""] = found;
  // Parse one literal instead of multiplying: 0.0007e3 must not become 0.7000000000000001.
  const value = Number(`${digits}e${Number(exponent) + (SUFFIXES[suffix.toLowerCase()] ?? 0)}`);
  return Number.isFinite(value) ? value : null;
}

/** Return true if a text is a whole number in a range. */
export const isWholeBetween = (text: string, min: number, max: number): boolean =>
  /^\d+$/.test(text.trim()) && Number(text) >= min && Number(text) <= max;

/** Format a number so that parseNumber reads it back: grouped if whole, exponential below 0.0001. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size >= 10_000 && size < 1e15)
    return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "_");
  if (size !== 0 && size < 1e-4) return value.toExponential();
  return String(value);
}
