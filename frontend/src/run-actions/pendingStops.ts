/** Stop requests that can still be undone. Each is sent after a delay, or when the user leaves the page. */

import { useSyncExternalStore } from "react";
import { UNDO_MS } from "@/ui/notify";

/** Sends a stop request. While the page unloads, it cannot wait for the response. */
type SendStop = (isUnloading: boolean) => void;

const pending = new Map<number, { timer: number; send: SendStop }>();
const listeners = new Set<() => void>();

function takePending(id: number): SendStop | undefined {
  const stop = pending.get(id);
  if (!stop) return undefined;
  clearTimeout(stop.timer);
  pending.delete(id);
  for (const notify of listeners) notify();
  return stop.send;
}

/** Send a stop request after the time in which it can be undone. */
export function scheduleStop(id: number, send: SendStop): void {
  takePending(id);
  const timer = window.setTimeout(() => takePending(id)?.(false), UNDO_MS);
  pending.set(id, { timer, send });
  for (const notify of listeners) notify();
}

export function cancelStop(id: number): void {
  takePending(id);
}

// Closing the tab does not undo a stop.
window.addEventListener("pagehide", () => {
  for (const id of [...pending.keys()]) takePending(id)?.(true);
});

function subscribe(notify: () => void) {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/** Return true if a stop of this run waits to be sent. */
export function useIsStopPending(id: number): boolean {
  return useSyncExternalStore(subscribe, () => pending.has(id));
}
