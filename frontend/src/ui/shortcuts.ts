import { useEffect, useRef } from "react";

/** Maximum time between the keys of a sequence such as "g r". */
const SEQUENCE_TIMEOUT_MS = 1000;

const TEXT_FIELDS =
  "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true], [role=textbox], " +
  "[role=searchbox], [role=spinbutton], [role=slider], [role=combobox], [role=listbox]";

/** Dialogs, popovers and menus. */
const LAYERS = "[role=dialog], [role=alertdialog], [role=menu]";

/** State of a visit that a shortcut opened. A form then gives the focus to its first field. */
export const FROM_KEYBOARD = "from keyboard";

export interface Shortcut {
  keys: string;
  does: string;
  run: () => void;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TEXT_FIELDS) !== null;
}

/** Return true if a dialog, popover or menu is open. A closed menu may stay in the document without being shown. */
function isLayerOpen(): boolean {
  return [...document.querySelectorAll(LAYERS)].some((layer) => getComputedStyle(layer).display !== "none");
}

/** Listen for single keys and two-key sequences, except during typing and while a dialog, popover or menu is open. */
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
      const sequence = Date.now() - firstAt < SEQUENCE_TIMEOUT_MS ? `${first} ${event.key}` : "";
      const match = latest.current.find(({ keys }) => keys === event.key || keys === sequence);
      first = event.key;
      firstAt = Date.now();
      if (!match || isLayerOpen()) return;
      event.preventDefault();
      first = "";
      match.run();
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
