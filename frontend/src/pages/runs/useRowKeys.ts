import { type RefObject, useEffect, useRef, useState } from "react";
import { useShortcuts } from "@/ui/shortcuts";
import type { RunRows } from "./useRunList";

interface RowKeys {
  /** The rows in display order, which changes while runs train. */
  rows: Pick<RunRows, "count" | "runAt" | "rowOf">;
  body: RefObject<HTMLElement | null>;
  /** True while rows are shown without what can be focused. */
  isFast: boolean;
  scrollTo: (row: number) => void;
  toggle: (id: number) => void;
  edit: (id: number) => void;
}

/** The row that the keys act on. It is unknown which run it has until that is loaded. */
interface Current {
  row: number;
  id: number | null;
}

/**
 * Add shortcuts to a table: j and k move between rows, x selects a row, F2 edits it, Enter opens the focused link. The
 * current row is stored as a run id, so that x selects the focused run even if the rows were reordered.
 */
export function useRowKeys({ rows, body, isFast, scrollTo, toggle, edit }: RowKeys): void {
  const [current, setCurrent] = useState<Current | null>(null);
  const waitsForFocus = useRef(false);
  const loaded = current?.id === null ? rows.runAt(current.row)?.id : undefined;
  if (current && loaded !== undefined) setCurrent({ row: current.row, id: loaded });
  const id = current?.id ?? null;
  const found = id === null ? -1 : rows.rowOf(id);
  // A row out of view may not be loaded any more.
  const isAway = current !== null && found < 0 && rows.runAt(current.row) === undefined;
  const at = isAway ? current.row : found;

  function move(by: number) {
    const row = at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.count - 1);
    if (row >= rows.count) return;
    scrollTo(row);
    waitsForFocus.current ||= row !== at;
    setCurrent({ row, id: rows.runAt(row)?.id ?? null });
  }

  const act = (action: (id: number) => void) => () => id !== null && found >= 0 && action(id);
  useShortcuts([
    { keys: "j", does: "Next run", run: () => move(1) },
    { keys: "k", does: "Previous run", run: () => move(-1) },
    { keys: "x", does: "Select run", run: act(toggle) },
    { keys: "F2", does: "Edit run", run: act(edit) },
  ]);

  useEffect(() => {
    if (id === null || isFast) return;
    // A row that was out of view is rendered in the next frame. The form of a row may have opened by then.
    const frame = requestAnimationFrame(() => {
      if (!waitsForFocus.current || document.activeElement?.closest("[role=dialog]")) return;
      const link = body.current?.querySelector<HTMLElement>(`[data-run="${id}"] a`);
      if (!link) return;
      link.focus({ preventScroll: true });
      waitsForFocus.current = false;
    });
    return () => cancelAnimationFrame(frame);
  }, [id, body, isFast]);
}
