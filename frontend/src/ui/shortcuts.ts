import { useEffect, useRef } from "react";

/** Sequences such as "g r" are typed within this time. */
const SEQUENCE_MS = 1000;

const WRITTEN_IN =
  "input:not([type=checkbox], [type=radio]), textarea, select, [role=slider], [role=combobox]";

export interface Shortcut {
  keys: string;
  does: string;
  run: () => void;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches(WRITTEN_IN);
}

/** Listens for single keys and two-key sequences, except while something is typed or a dialog is open. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    let first = "";
    let firstAt = 0;
    function onKeyDown(event: KeyboardEvent) {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
        return;
      if (document.querySelector("[role=dialog][aria-modal=true]")) return;
      const sequence = Date.now() - firstAt < SEQUENCE_MS ? `${first} ${event.key}` : "";
      const hit = latest.current.find(({ keys }) => keys === event.key || keys === sequence);
      first = event.key;
      firstAt = Date.now();
      if (!hit) return;
      event.preventDefault();
      first = "";
      hit.run();
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
