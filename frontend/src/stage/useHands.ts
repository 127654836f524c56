import { useCallback, useEffect, useRef } from "react";
import type { Send, View } from "./broadcast";
import type { Key } from "./protocol";

export interface Hands {
  /** True if this page plays. */
  mine: boolean;
  /** True if this page could play, because no other viewer does. */
  free: boolean;
  /** Set the held keys. `at` is the time of the key event. */
  hold: (keys: readonly Key[], down: boolean, at: number) => void;
}

const KEYS: Readonly<Record<string, Key>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  " ": "fire",
};
const WRITTEN_IN =
  "textarea, select, input, [contenteditable=true], [role=slider], [role=menu], [role=listbox]";

/** Keyboard control of a live game. With `eager`, the first key takes over a game that no viewer plays. */
export function useHands(view: View, send: Send, eager: boolean): Hands {
  const { scene, you, playing } = view;
  const free = playing && scene !== null && scene.takes_hands && scene.hands === null;
  const mine = playing && scene !== null && scene.hands !== null && scene.hands === you;
  const plays = mine || (eager && free);
  const held = useRef(new Set<Key>());

  useEffect(() => {
    if (!plays) held.current.clear();
  }, [plays]);

  const begin = useCallback(() => {
    if (!mine) send({ order: "take over" });
  }, [mine, send]);

  const hold = useCallback(
    (keys: readonly Key[], down: boolean, at: number) => {
      const news = keys.filter((key) => held.current.has(key) !== down);
      if (!plays || news.length === 0) return;
      for (const key of news) {
        if (down) held.current.add(key);
        else held.current.delete(key);
      }
      begin();
      send({ order: "keys", held: [...held.current] }, at);
    },
    [plays, begin, send],
  );

  useEffect(() => {
    if (!plays) return undefined;
    function onKey(event: KeyboardEvent) {
      const down = event.type === "keydown";
      const key = KEYS[event.key];
      const again = down && !event.repeat && event.key.toLowerCase() === "r";
      if (!key && !again) return;
      if (down && (event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event.target))) return;
      // Leave the key to the element where it was pressed, such as a button.
      if (!down && !(key && held.current.has(key))) return;
      event.preventDefault();
      event.stopPropagation();
      if (key) {
        hold([key], down, event.timeStamp);
      } else {
        begin();
        send({ order: "new game" });
      }
    }
    const letGo = () => hold([...held.current], false, performance.now());
    // Capture the event before the page's shortcuts, which share some keys.
    const options = { capture: true };
    document.addEventListener("keydown", onKey, options);
    document.addEventListener("keyup", onKey, options);
    window.addEventListener("blur", letGo);
    return () => {
      document.removeEventListener("keydown", onKey, options);
      document.removeEventListener("keyup", onKey, options);
      window.removeEventListener("blur", letGo);
    };
  }, [plays, hold, begin, send]);

  return { mine, free, hold };
}

function isElsewhere(target: EventTarget | null): boolean {
  const writes = target instanceof Element && target.closest(WRITTEN_IN) !== null;
  return writes || document.querySelector("[role=dialog][aria-modal=true]") !== null;
}
