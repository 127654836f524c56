/** CSV tables and downloads. */

export type Cell = string | number | boolean | null | undefined;

/**
 * Return a cell as specified in RFC 4180. Escape text that a spreadsheet would run as a formula: with a
 * leading = + - @ or tab, except for -Infinity.
 */
function cell(value: Cell): string {
  if (value === null || value === undefined) return "";
  const runs = typeof value === "string" && value !== "-Infinity" && /^[=+\-@\t]/.test(value);
  const text = runs ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

/** Download a file. */
export function save(name: string, content: Blob | string): void {
  const address = typeof content === "string" ? content : URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  if (typeof content !== "string") setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveCsv(name: string, header: readonly string[], rows: readonly (readonly Cell[])[]): void {
  save(name, new Blob([csv(header, rows)], { type: "text/csv" }));
}
