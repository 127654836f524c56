/** Column choices as text, for the URL and the browser: "state", "env~180" with a width, "method!" pinned. */

export interface ColumnSpec {
  id: string;
  /** In pixels. Null means the default. */
  width: number | null;
  /** Stays visible while the others scroll. */
  pinned: boolean;
}

export const MIN_WIDTH = 48;
/** Pixels per key press or menu click. */
export const WIDTH_STEP = 16;
const MAX_WIDTH = 800;

export function parseSpec(text: string): ColumnSpec {
  const [, id = text, width, pin] = /^(.*?)(?:~(\d{1,4}))?(!?)$/.exec(text) ?? [];
  return { id, width: width === undefined ? null : clampWidth(Number(width)), pinned: pin === "!" };
}

export function formatSpec({ id, width, pinned }: ColumnSpec): string {
  return `${id}${width === null ? "" : `~${width}`}${pinned ? "!" : ""}`;
}

const idOf = (text: string) => parseSpec(text).id;

function clampWidth(width: number): number {
  return Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)));
}

export function hasColumn(columns: readonly string[], id: string): boolean {
  return columns.some((text) => idOf(text) === id);
}

export function removeColumn(columns: readonly string[], id: string): string[] {
  return columns.filter((text) => idOf(text) !== id);
}

export function toggleColumn(columns: readonly string[], id: string): string[] {
  return hasColumn(columns, id) ? removeColumn(columns, id) : [...columns, id];
}

/** Return the columns with one of them changed. The column is added if it is not listed. */
export function updateColumn(
  columns: readonly string[],
  id: string,
  change: Partial<Omit<ColumnSpec, "id">>,
): string[] {
  const all = hasColumn(columns, id) ? columns : [id, ...columns];
  return all.map((text) => {
    const spec = parseSpec(text);
    if (spec.id !== id) return text;
    const width =
      change.width === undefined || change.width === null ? change.width : clampWidth(change.width);
    return formatSpec({ ...spec, ...change, ...(width !== undefined && { width }) });
  });
}

/** Move a column to another's place. It becomes pinned or unpinned like the column there. */
export function moveColumn(columns: readonly string[], id: string, target: string): string[] {
  const from = columns.findIndex((text) => idOf(text) === id);
  const to = columns.findIndex((text) => idOf(text) === target);
  const [moving, place] = [columns[from], columns[to]];
  if (moving === undefined || place === undefined || from === to) return [...columns];
  const spec = { ...parseSpec(moving), pinned: parseSpec(place).pinned };
  return columns.toSpliced(from, 1).toSpliced(to, 0, formatSpec(spec));
}
