/** Numbers as people write them: 1e-3, 10M, 115_000_000, 2.5k. */

const SUFFIXES: Record<string, number> = { "": 0, k: 3, m: 6, b: 9, g: 9, t: 12 };
const WRITTEN = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:e([+-]?\d+))?([kmbgt]?)$/i;

/** Read a number, or null when the text is not one. */
export function parseNumber(text: string): number | null {
  const bare = text
    .replace(/[\s_\u00a0\u202f']/g, "")
    .replace(/,(?=\d{3}(?:\D|$))/g, "")
    .replace("−", "-");
  const found = WRITTEN.exec(bare);
  if (!found) return null;
  const [, digits, exponent = "0", suffix = ""] = found;
  // One decimal literal instead of a product: 0.0007e3 must not read 0.7000000000000001.
  const value = Number(`${digits}e${Number(exponent) + (SUFFIXES[suffix.toLowerCase()] ?? 0)}`);
  return Number.isFinite(value) ? value : null;
}

/** Write a number so that parseNumber reads the same one back: grouped if whole, exponential if tiny. */
export function writeNumber(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size >= 10_000 && size < 1e15)
    return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "_");
  if (size !== 0 && size < 1e-3) return value.toExponential();
  return String(value);
}
