import { type RefObject, useEffect, useRef } from "react";

/** Focus an element that replaces the focused one. */
export function useCatchFocus<T extends HTMLElement>(shown: boolean): RefObject<T | null> {
  const element = useRef<T>(null);
  const before = useRef(shown);
  useEffect(() => {
    if (shown && !before.current && document.activeElement === document.body) element.current?.focus();
    before.current = shown;
  }, [shown]);
  return element;
}
