/** Actions that the user was promised: each is retried until it is done, and one that fails stays on screen. */

import { useSyncExternalStore } from "react";
import { ApiError, isRefusal } from "@/api/problem";
import type { BulkAction } from "@/api/types";
import { notifyProblem } from "@/ui/notify";

export interface PromisedAction {
  /** A newer action with the same key replaces this one. */
  key: string;
  action: BulkAction;
  /** What has not happened, as "Run 7 was NOT stopped". */
  failure: string;
  send: () => Promise<unknown>;
  /** Send once more from a page that is being left. */
  sendOnLeaving?: () => void;
}

export interface UnsentAction extends PromisedAction {
  /** Why the last try failed; null during the first one. */
  reason: string | null;
  failures: number;
  isSending: boolean;
  /** When it is tried again; undefined if only the user can do that. */
  timer?: number;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 15_000;
/** About four minutes of tries. */
const MAX_FAILURES = 20;

let unsent: readonly UnsentAction[] = [];
const listeners = new Set<() => void>();

function keep(actions: readonly UnsentAction[]): void {
  unsent = actions;
  for (const notify of listeners) notify();
}

const find = (key: string) => unsent.find((action) => action.key === key);

function change(old: UnsentAction, changes: Partial<UnsentAction>): UnsentAction {
  const changed = { ...old, ...changes };
  keep(unsent.map((action) => (action === old ? changed : action)));
  return changed;
}

/** Send an action now, and again until it is done, refused or dismissed. */
export function promise(action: PromisedAction): void {
  dismiss(action.key);
  const added = { ...action, reason: null, failures: 0, isSending: false };
  keep([...unsent, added]);
  void attempt(added);
}

async function attempt(action: UnsentAction): Promise<void> {
  clearTimeout(action.timer);
  const sent = change(action, { isSending: true, timer: undefined });
  try {
    await sent.send();
    forget(sent);
  } catch (error) {
    // Dismissed or replaced meanwhile.
    if (!unsent.includes(sent)) return;
    if (isFinal(error)) {
      forget(sent);
      notifyProblem(error);
      return;
    }
    const failures = sent.failures + 1;
    const failed = change(sent, {
      isSending: false,
      failures,
      reason: error instanceof Error ? error.message : String(error),
    });
    if (!isRefusal(error) && failures < MAX_FAILURES) retryLater(failed);
  }
}

/** Return True if the server knows the run and no retry can change its answer. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && [404, 409, 422].includes(error.status);
}

function retryLater(action: UnsentAction): void {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (action.failures - 1), MAX_DELAY_MS);
  const timer = window.setTimeout(() => {
    const waiting = find(action.key);
    if (waiting?.timer === timer) void attempt(waiting);
  }, delay);
  change(action, { timer });
}

function forget(action: UnsentAction): void {
  clearTimeout(action.timer);
  keep(unsent.filter((other) => other !== action));
}

/** Try one failed action again now. */
export function tryAgain(key: string): void {
  const action = find(key);
  if (action && !action.isSending) void attempt(action);
}

/** Try every failed action again: the server can be reached. */
export function retryAll(): void {
  for (const { key } of unsent) tryAgain(key);
}

/** Drop an action: it is not sent again. */
export function dismiss(key: string): void {
  const action = find(key);
  if (action) forget(action);
}

window.addEventListener("online", retryAll);
window.addEventListener("pagehide", () => {
  for (const action of unsent) if (!action.isSending) action.sendOnLeaving?.();
});

function subscribe(notify: () => void) {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

const read = () => unsent;

/** Return the actions that are being sent or have failed. */
export function useUnsentActions(): readonly UnsentAction[] {
  return useSyncExternalStore(subscribe, read);
}
