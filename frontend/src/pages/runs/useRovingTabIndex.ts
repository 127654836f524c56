import { type RefObject, useEffect, useRef } from "react";

/** Props that mark a control as one that the arrow keys reach. */
export const ROVING_ITEM = { "data-roving-item": true } as const;

/** Make the marked controls of a row one tab stop. The arrow keys, Home and End move between them. */
export function useRovingTabIndex(row: RefObject<HTMLElement | null>): void {
  const last = useRef<HTMLElement | null>(null);

  // Controls appear and disappear with their columns, so update the tab stop after every render.
  useEffect(() => {
    if (row.current) setTabStop(findItems(row.current), last.current);
  });

  useEffect(() => {
    const element = row.current;
    if (!element) return;
    function onFocus({ target }: FocusEvent) {
      const items = element ? findItems(element) : [];
      const found = items.find((item) => item === target);
      if (!found) return;
      last.current = found;
      setTabStop(items, found);
    }
    function onKeyDown(event: KeyboardEvent) {
      const items = element ? findItems(element) : [];
      const at = items.findIndex((item) => item === event.target);
      const next = at < 0 ? undefined : items[nextIndex(event.key, at, items.length)];
      if (!next) return;
      event.preventDefault();
      next.focus();
    }
    element.addEventListener("focusin", onFocus);
    element.addEventListener("keydown", onKeyDown);
    return () => {
      element.removeEventListener("focusin", onFocus);
      element.removeEventListener("keydown", onKeyDown);
    };
  }, [row]);
}

const findItems = (row: HTMLElement) => [...row.querySelectorAll<HTMLElement>("[data-roving-item]")];

/** Make the Tab key reach the item that last had the focus, or else the first. */
function setTabStop(items: HTMLElement[], last: HTMLElement | null): void {
  const tabStop = items.find((item) => item === last) ?? items[0];
  for (const item of items) item.tabIndex = item === tabStop ? 0 : -1;
}

/** Return the index that a key moves to, or -1 for other keys. */
function nextIndex(key: string, at: number, count: number): number {
  if (key === "ArrowRight") return Math.min(at + 1, count - 1);
  if (key === "ArrowLeft") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : -1;
}
