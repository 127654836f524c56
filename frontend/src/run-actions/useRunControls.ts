import { useSyncExternalStore } from "react";
import { type RunAction, sendOnUnload, useRunAction } from "@/api/runs";
import type { ListedRun } from "@/api/types";
import { hideNotification, notifyDone, notifyUndoable, UNDO_MS } from "@/ui/notify";
import { sendWithRetries, useUnsentActions } from "./retriedActions";
import { store } from "./storedActions";
import { ACTION_PARTICIPLES, ACTION_RESULTS } from "./words";

const OPPOSITES: Partial<Record<RunAction, RunAction>> = { archive: "restore", restore: "archive" };

const stopNotice = (run: ListedRun) => `stop ${run.id}`;

/** Return functions that act on one run. A stop waits while it can be undone. Failed requests are retried. */
export function useRunControls(run: ListedRun) {
  const act = useRunAction();
  const isStopPending = useIsStopPending(run.id);
  const { id } = run;
  const archiveKey = `archive run ${id}`;
  const stateKey = `steer run ${id}`;
  const unsent = useUnsentActions().find(({ key, isSending }) => key === stateKey && isSending);

  const describe = (action: RunAction) => ({
    key: action in OPPOSITES ? archiveKey : stateKey,
    request: { target: "run" as const, id, action },
    failure: `Run ${id} was NOT ${ACTION_PARTICIPLES[action]}`,
  });

  function send(action: RunAction, onDone?: () => void) {
    sendWithRetries({
      ...describe(action),
      send: () => act.mutateAsync({ id, action }).then(onDone),
      sendOnUnload: () => sendOnUnload(id, action),
    });
  }

  function undoStop() {
    cancelStop(id);
    hideNotification(stopNotice(run));
  }

  function stop() {
    scheduleStop(id, (isUnloading) => {
      hideNotification(stopNotice(run));
      if (!isUnloading) {
        send("stop");
        return;
      }
      // This page cannot read the response, so the next page shows the action or repeats it.
      store({ ...describe("stop"), reason: null, requestedAt: Date.now() });
      sendOnUnload(id, "stop");
    });
    notifyUndoable(stopNotice(run), `Stopping run ${id}…`, undoStop);
  }

  function perform(action: RunAction) {
    if (action === "stop") {
      stop();
      return;
    }
    const opposite = OPPOSITES[action];
    const message = `Run ${id} ${ACTION_RESULTS[action]}.`;
    send(action, () => {
      if (opposite) notifyUndoable(`${action} ${id}`, message, () => send(opposite));
      else notifyDone(message);
    });
  }

  return { perform, isStopPending, undoStop, sending: unsent?.request.action ?? null };
}

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
function scheduleStop(id: number, send: SendStop): void {
  takePending(id);
  const timer = window.setTimeout(() => takePending(id)?.(false), UNDO_MS);
  pending.set(id, { timer, send });
  for (const notify of listeners) notify();
}

function cancelStop(id: number): void {
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
function useIsStopPending(id: number): boolean {
  return useSyncExternalStore(subscribe, () => pending.has(id));
}
