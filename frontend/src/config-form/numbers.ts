/** Numbers as people write them: 1e-3, 0,003, 10M, 115_000_000, 2.5k. */

const SUFFIXES: Record<string, number> = { "": 0, k: 3, m: 6, b: 9, g: 9, t: 12 };
const WRITTEN = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:e([+-]?\d+))?([kmbgt]?)$/i;

const GROUPED = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?!\d)/;
const ONE_GROUP = /^[+-]?[1-9]\d{0,2},\d{3}(?![\d,.])/;

const bareOf = (text: string) => text.replace(/[\s_\u00a0\u202f']/g, "").replace("−", "-");

/** Whether a comma may group digits as well as stand before decimals, as in 1,500; 10,000 can only be meant whole. */
export function isAmbiguous(text: string, whole: boolean): boolean {
  const bare = bareOf(text);
  return ONE_GROUP.test(bare) && !(whole && /\d$/.test(bare) && !/e/i.test(bare));
}

/** Take the commas out where they group digits; where one stands before decimals, make it a point. */
function pointed(bare: string): string {
  return GROUPED.test(bare) ? bare.replaceAll(",", "") : bare.replace(/^([^,.]*),(?=\d)([^,.]*)$/, "$1.$2");
}

/** Read a number, or null when the text is not one; 1,500 is read as grouped, so ask isAmbiguous first. */
export function parseNumber(text: string): number | null {
  const found = WRITTEN.exec(pointed(bareOf(text)));
  if (!found) return null;
  const [, digits, exponent = "0", suffix = ""] = found;
  // One decimal literal instead of a product: 0.0007e3 must not read 0.7000000000000001.
  const value = Number(`${digits}e${Number(exponent) + (SUFFIXES[suffix.toLowerCase()] ?? 0)}`);
  return Number.isFinite(value) ? value : null;
}

/** Write a number so that parseNumber reads the same one back: grouped if whole, exponential below 0.0001. */
export function writeNumber(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size >= 10_000 && size < 1e15)
    return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "_");
  if (size !== 0 && size < 1e-4) return value.toExponential();
  return String(value);
}
