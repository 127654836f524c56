/** Actions that are retried until they succeed. A failed action stays on screen. */

import { useSyncExternalStore } from "react";
import { ApiError, isRefusal } from "@/api/problem";
import type { ActionRequest } from "@/api/runActions";
import { notifyProblem } from "@/ui/notify";
import { isOld, store, storedActions, subscribeToStored, unstore } from "./storedActions";

export interface RetriedAction {
  /** A newer action with the same key replaces this one. */
  key: string;
  /** How the next page sends the action after this page is closed. */
  request: ActionRequest;
  /** Message about the failure: "Run 7 was NOT stopped". */
  failure: string;
  send: () => Promise<unknown>;
  /** Send the action while the page unloads. */
  sendOnUnload?: () => void;
}

export interface UnsentAction extends RetriedAction {
  /** Why the last attempt failed. Null during the first attempt. */
  reason: string | null;
  failures: number;
  requestedAt: number;
  /** Sent only on a click: an earlier page requested it, and it cannot be undone. */
  isManual: boolean;
  isSending: boolean;
  /** Timer of the next attempt. Undefined if only the user can retry. */
  timer?: number;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 15_000;
/** About four minutes of attempts. */
const MAX_FAILURES = 20;

let unsent: readonly UnsentAction[] = [];
const listeners = new Set<() => void>();

function setUnsent(actions: readonly UnsentAction[]): void {
  unsent = actions;
  for (const notify of listeners) notify();
}

const find = (key: string) => unsent.find((action) => action.key === key);

function update(old: UnsentAction, changes: Partial<UnsentAction>): UnsentAction {
  const changed = { ...old, ...changes };
  setUnsent(unsent.map((action) => (action === old ? changed : action)));
  return changed;
}

/** Send an action, and retry it until it succeeds, is refused or is dismissed. */
export function sendWithRetries(action: RetriedAction): void {
  dismiss(action.key);
  const added = { ...action, ...FRESH, requestedAt: Date.now() };
  store(added);
  setUnsent([...unsent, added]);
  void attempt(added);
}

const FRESH = { reason: null, failures: 0, isManual: false, isSending: false };

/** Restore the actions that an earlier page could not send. Retry the recent ones. */
export function restoreActions(send: (request: ActionRequest) => Promise<unknown>): void {
  for (const stored of storedActions()) {
    if (find(stored.key)) continue;
    const action = { ...FRESH, ...stored, send: () => send(stored.request) };
    const isManual = stored.request.action === "purge";
    const added: UnsentAction =
      isManual || isOld(stored.requestedAt) ? markUnconfirmed(action, isManual) : action;
    setUnsent([...unsent, added]);
    retry(added);
  }
}

/** Return the action as one that only a click retries. Without a response, it may have succeeded. */
function markUnconfirmed(action: UnsentAction, isManual: boolean): UnsentAction {
  if (action.reason !== null) return { ...action, isManual };
  const failure = action.failure.replace(/ (was|were) NOT /, " may not have been ");
  return { ...action, isManual, failure, reason: "The page was closed before the server answered." };
}

async function attempt(action: UnsentAction): Promise<void> {
  clearTimeout(action.timer);
  const sent = update(action, { isSending: true, timer: undefined });
  try {
    await sent.send();
    forget(sent);
  } catch (error) {
    // The user dismissed or replaced it while it was being sent.
    if (!unsent.includes(sent)) return;
    if (isFinal(error)) {
      forget(sent);
      notifyProblem(error);
      return;
    }
    const failures = sent.failures + 1;
    const failed = update(sent, {
      isSending: false,
      failures,
      reason: error instanceof Error ? error.message : String(error),
    });
    store(failed);
    if (!isRefusal(error) && failures < MAX_FAILURES && canRetry(failed)) retryLater(failed);
  }
}

/** Return true if the action may be sent without a click. */
const canRetry = (action: UnsentAction) => !action.isManual && !isOld(action.requestedAt);

function retry(action: UnsentAction): void {
  if (!action.isSending && canRetry(action)) void attempt(action);
}

/** Return true if no retry can change the server's response. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && [404, 409, 422].includes(error.status);
}

function retryLater(action: UnsentAction): void {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (action.failures - 1), MAX_DELAY_MS);
  const timer = window.setTimeout(() => {
    const waiting = find(action.key);
    if (waiting?.timer !== timer) return;
    if (canRetry(waiting)) void attempt(waiting);
    else update(waiting, { timer: undefined });
  }, delay);
  update(action, { timer });
}

function forget(action: UnsentAction): void {
  clearTimeout(action.timer);
  setUnsent(unsent.filter((other) => other !== action));
  unstore(action);
}

/** Retry one failed action now. */
export function retryNow(key: string): void {
  const action = find(key);
  if (action && !action.isSending) void attempt(action);
}

/** Retry all failed actions, for example after the server becomes reachable. */
export function retryAll(): void {
  for (const action of unsent) retry(action);
}

/** Drop an action, so that it is not sent again. */
export function dismiss(key: string): void {
  const action = find(key);
  if (action) forget(action);
}

window.addEventListener("online", retryAll);
window.addEventListener("pagehide", () => {
  for (const action of unsent) if (!action.isSending && canRetry(action)) action.sendOnUnload?.();
});
// Drop actions that another tab sent or dismissed.
subscribeToStored(() => {
  const stored = storedActions();
  for (const action of unsent)
    if (!action.isSending && !stored.some(({ key }) => key === action.key)) forget(action);
});

function subscribe(notify: () => void) {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

const getUnsent = () => unsent;

/** Return the actions that are being sent or have failed. */
export function useUnsentActions(): readonly UnsentAction[] {
  return useSyncExternalStore(subscribe, getUnsent);
}
