import { type RefObject, useEffect, useRef } from "react";

/** Marks a control that arrow keys reach. */
export const STOP = { "data-stop": true } as const;

/** Makes the marked controls of a row one tab stop: the arrow keys, Home and End go from one to another. */
export function useOneTabStop(row: RefObject<HTMLElement | null>): void {
  const last = useRef<HTMLElement | null>(null);

  // Controls come and go with their columns, so the stop is found anew after every change.
  useEffect(() => {
    if (row.current) leaveOne(stopsIn(row.current), last.current);
  });

  useEffect(() => {
    const element = row.current;
    if (!element) return;
    function onFocus({ target }: FocusEvent) {
      const stops = element ? stopsIn(element) : [];
      const found = stops.find((stop) => stop === target);
      if (!found) return;
      last.current = found;
      leaveOne(stops, found);
    }
    function onKeyDown(event: KeyboardEvent) {
      const stops = element ? stopsIn(element) : [];
      const at = stops.findIndex((stop) => stop === event.target);
      const next = at < 0 ? undefined : stops[placeAfter(event.key, at, stops.length)];
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

const stopsIn = (row: HTMLElement) => [...row.querySelectorAll<HTMLElement>("[data-stop]")];

/** The tab key reaches the stop that had the focus last, or else the first. */
function leaveOne(stops: HTMLElement[], last: HTMLElement | null): void {
  const reached = stops.find((stop) => stop === last) ?? stops[0];
  for (const stop of stops) stop.tabIndex = stop === reached ? 0 : -1;
}

/** Where a key leads from a place; -1 where it leads nowhere. */
function placeAfter(key: string, at: number, count: number): number {
  if (key === "ArrowRight") return Math.min(at + 1, count - 1);
  if (key === "ArrowLeft") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : -1;
}
