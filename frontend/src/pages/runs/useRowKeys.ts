import { type RefObject, useEffect, useRef, useState } from "react";
import { useShortcuts } from "@/ui/shortcuts";

interface RowKeys {
  /** The rows' ids in their order, which moves while runs train. */
  ids: readonly string[];
  body: RefObject<HTMLElement | null>;
  scrollTo: (row: number) => void;
  toggle: (row: number) => void;
}

/**
 * Moves through a table's rows by j and k and selects by x; the row's link is focused, so that Enter opens it. The row
 * is remembered by its run, so that x selects what is focused also after the rows have changed places.
 */
export function useRowKeys({ ids, body, scrollTo, toggle }: RowKeys): void {
  const [current, setCurrent] = useState<string | null>(null);
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
    { keys: "k", does: "Run before", run: () => move(-1) },
    { keys: "x", does: "Select the run", run: () => at >= 0 && toggle(at) },
  ]);

  const latest = useRef(ids);
  useEffect(() => {
    latest.current = ids;
  });
  useEffect(() => {
    const at = current === null ? -1 : latest.current.indexOf(current);
    if (at < 0) return;
    // A row that was out of view is drawn a moment later.
    const frame = requestAnimationFrame(() =>
      body.current?.querySelector<HTMLElement>(`[aria-rowindex="${at + 2}"] a`)?.focus(),
    );
    return () => cancelAnimationFrame(frame);
  }, [current, body]);
}
