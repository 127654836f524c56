/** The user's columns as they are kept and stand in the address: "state", "env~180" if wider, "method!" if pinned. */

export interface ColumnSpec {
  id: string;
  /** In pixels, if not the usual. */
  width: number | null;
  /** Stays in sight while the others scroll. */
  pinned: boolean;
}

export const NARROWEST = 48;
/** What one press of a key, or of a menu's item, adds to a width. */
export const WIDTH_STEP = 16;
const WIDEST = 800;

export function readSpec(text: string): ColumnSpec {
  const [, id = text, width, pin] = /^(.*?)(?:~(\d{1,4}))?(!?)$/.exec(text) ?? [];
  return { id, width: width === undefined ? null : within(Number(width)), pinned: pin === "!" };
}

export function writeSpec({ id, width, pinned }: ColumnSpec): string {
  return `${id}${width === null ? "" : `~${width}`}${pinned ? "!" : ""}`;
}

const idOf = (text: string) => readSpec(text).id;

function within(width: number): number {
  return Math.round(Math.min(WIDEST, Math.max(NARROWEST, width)));
}

export function hasColumn(columns: readonly string[], id: string): boolean {
  return columns.some((text) => idOf(text) === id);
}

export function withoutColumn(columns: readonly string[], id: string): string[] {
  return columns.filter((text) => idOf(text) !== id);
}

export function toggledColumn(columns: readonly string[], id: string): string[] {
  return hasColumn(columns, id) ? withoutColumn(columns, id) : [...columns, id];
}

/** The columns with one of them changed; one that was not named, as the run's own, is named now. */
export function changedColumn(
  columns: readonly string[],
  id: string,
  change: Partial<Omit<ColumnSpec, "id">>,
): string[] {
  const all = hasColumn(columns, id) ? columns : [id, ...columns];
  return all.map((text) => {
    const spec = readSpec(text);
    if (spec.id !== id) return text;
    const width = change.width === undefined || change.width === null ? change.width : within(change.width);
    return writeSpec({ ...spec, ...change, ...(width !== undefined && { width }) });
  });
}

/** One column put in another's place; among pinned ones it becomes one of them, among others it is let go. */
export function movedColumn(columns: readonly string[], id: string, target: string): string[] {
  const from = columns.findIndex((text) => idOf(text) === id);
  const to = columns.findIndex((text) => idOf(text) === target);
  const [moving, place] = [columns[from], columns[to]];
  if (moving === undefined || place === undefined || from === to) return [...columns];
  const spec = { ...readSpec(moving), pinned: readSpec(place).pinned };
  return columns.toSpliced(from, 1).toSpliced(to, 0, writeSpec(spec));
}
