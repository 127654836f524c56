import { useEffect, useRef } from "react";

const WRITTEN_IN = "textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox])";
const PRESSED_BY_SPACE = "a, button, input, [role=menuitem], [role=combobox]";

/** Register the player's shortcuts for the whole page, except in text fields and dialogs. */
export function useReplayKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const act = latest.current[event.key];
      if (!act || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("[role=dialog][aria-modal=true]")) return;
      const { target } = event;
      if (target instanceof Element) {
        if (target.closest(WRITTEN_IN) || (event.key === " " && target.closest(PRESSED_BY_SPACE))) return;
      }
      event.preventDefault();
      act();
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
