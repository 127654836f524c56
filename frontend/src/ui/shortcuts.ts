import { useEffect, useRef } from "react";

/** Maximum time between the keys of a sequence such as "g r". */
const SEQUENCE_TIMEOUT_MS = 1000;

const TEXT_FIELDS =
  "input:not([type=checkbox], [type=radio]), textarea, select, [role=slider], [role=combobox]";

export interface Shortcut {
  keys: string;
  does: string;
  run: () => void;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches(TEXT_FIELDS);
}

/** Listen for single keys and two-key sequences, except during typing or in an open dialog. */
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
      const sequence = Date.now() - firstAt < SEQUENCE_TIMEOUT_MS ? `${first} ${event.key}` : "";
      const match = latest.current.find(({ keys }) => keys === event.key || keys === sequence);
      first = event.key;
      firstAt = Date.now();
      if (!match) return;
      event.preventDefault();
      first = "";
      match.run();
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
