/** Stops that were asked for and can still be undone: they are sent after a while, or when the page is left. */

import { useSyncExternalStore } from "react";
import { UNDO_MS } from "@/ui/notify";

/** How a stop is sent; a page that is being left cannot wait for the answer. */
type Send = (leaving: boolean) => void;

const pending = new Map<number, { timer: number; send: Send }>();
const listeners = new Set<() => void>();

function forget(id: number): Send | undefined {
  const held = pending.get(id);
  if (!held) return undefined;
  clearTimeout(held.timer);
  pending.delete(id);
  for (const tell of listeners) tell();
  return held.send;
}

/** Send a stop once it can no longer be undone. */
export function holdStop(id: number, send: Send): void {
  forget(id);
  const timer = window.setTimeout(() => forget(id)?.(false), UNDO_MS);
  pending.set(id, { timer, send });
  for (const tell of listeners) tell();
}

export function undoStop(id: number): void {
  forget(id);
}

// A stop that was asked for before the tab was closed is meant.
window.addEventListener("pagehide", () => {
  for (const id of [...pending.keys()]) forget(id)?.(true);
});

function subscribe(tell: () => void) {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** Whether a stop of this run waits to be sent. */
export function usePendingStop(id: number): boolean {
  return useSyncExternalStore(subscribe, () => pending.has(id));
}
