import { type RefObject, useEffect, useRef, useState } from "react";
import { useShortcuts } from "@/ui/shortcuts";

interface RowKeys {
  /** The rows' ids in display order, which changes while runs train. */
  ids: readonly number[];
  body: RefObject<HTMLElement | null>;
  scrollTo: (row: number) => void;
  toggle: (id: number) => void;
  edit: (id: number) => void;
}

/**
 * Add shortcuts to a table: j and k move between rows, x selects a row, F2 edits it, Enter opens the focused link. The
 * current row is stored as a run id, so that x selects the focused run even if the rows were reordered.
 */
export function useRowKeys({ ids, body, scrollTo, toggle, edit }: RowKeys): void {
  const [current, setCurrent] = useState<number | null>(null);
  const at = current === null ? -1 : ids.indexOf(current);

  function move(by: number) {
    const next = at < 0 ? 0 : Math.min(Math.max(at + by, 0), ids.length - 1);
    const id = ids[next];
    if (id === undefined) return;
    scrollTo(next);
    setCurrent(id);
  }

  useShortcuts([
    { keys: "j", does: "Next run", run: () => move(1) },
    { keys: "k", does: "Previous run", run: () => move(-1) },
    { keys: "x", does: "Select run", run: () => current !== null && at >= 0 && toggle(current) },
    { keys: "F2", does: "Edit run", run: () => current !== null && at >= 0 && edit(current) },
  ]);

  const latest = useRef(ids);
  useEffect(() => {
    latest.current = ids;
  });
  useEffect(() => {
    const at = current === null ? -1 : latest.current.indexOf(current);
    if (at < 0) return;
    // A row that was out of view is rendered in the next frame. The form of a row may have opened by then.
    const frame = requestAnimationFrame(() => {
      if (document.activeElement?.closest("[role=dialog]")) return;
      body.current?.querySelector<HTMLElement>(`[aria-rowindex="${at + 2}"] a`)?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, [current, body]);
}
