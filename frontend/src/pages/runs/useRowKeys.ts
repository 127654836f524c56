import { type RefObject, useEffect, useState } from "react";
import { useShortcuts } from "@/ui/shortcuts";

interface RowKeys {
  count: number;
  body: RefObject<HTMLElement | null>;
  scrollTo: (row: number) => void;
  toggle: (row: number) => void;
}

/** Moves through a table's rows by j and k and selects by x; the row's link is focused, so that Enter opens it. */
export function useRowKeys({ count, body, scrollTo, toggle }: RowKeys): void {
  const [at, setAt] = useState<number | null>(null);

  function move(by: number) {
    const next = at === null ? 0 : Math.min(Math.max(at + by, 0), count - 1);
    if (count === 0) return;
    scrollTo(next);
    setAt(next);
  }

  useShortcuts([
    { keys: "j", does: "Next run", run: () => move(1) },
    { keys: "k", does: "Run before", run: () => move(-1) },
    { keys: "x", does: "Select the run", run: () => at !== null && at < count && toggle(at) },
  ]);

  useEffect(() => {
    if (at === null) return;
    // A row that was out of view is drawn a moment later.
    const frame = requestAnimationFrame(() =>
      body.current?.querySelector<HTMLElement>(`[aria-rowindex="${at + 2}"] a`)?.focus(),
    );
    return () => cancelAnimationFrame(frame);
  }, [at, body]);
}
