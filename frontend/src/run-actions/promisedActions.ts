/** Actions that the user was promised: each is retried until it is done, and one that fails stays on screen. */

import { useSyncExternalStore } from "react";
import { ApiError, isRefusal } from "@/api/problem";
import type { ActionRequest } from "@/api/runActions";
import { notifyProblem } from "@/ui/notify";
import { followStored, isOld, store, storedActions, unstore } from "./storedActions";

export interface PromisedAction {
  /** A newer action with the same key replaces this one. */
  key: string;
  /** How another page sends it after this one is closed. */
  request: ActionRequest;
  /** What has not happened, as "Run 7 was NOT stopped". */
  failure: string;
  send: () => Promise<unknown>;
  /** Send once more from a page that is being left. */
  sendOnUnload?: () => void;
}

export interface UnsentAction extends PromisedAction {
  /** Why the last try failed; null during the first one. */
  reason: string | null;
  failures: number;
  requestedAt: number;
  /** Only a click sends it: it cannot be undone, and an earlier page requested it. */
  isManual: boolean;
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
  const added = { ...action, ...FRESH, requestedAt: Date.now() };
  store(added);
  keep([...unsent, added]);
  void attempt(added);
}

const FRESH = { reason: null, failures: 0, isManual: false, isSending: false };

/** Show the actions that an earlier page could not send, and send those that the user just requested. */
export function restore(send: (request: ActionRequest) => Promise<unknown>): void {
  for (const stored of storedActions()) {
    if (find(stored.key)) continue;
    const action = { ...FRESH, ...stored, send: () => send(stored.request) };
    const isManual = stored.request.action === "purge";
    const added: UnsentAction = isManual || isOld(stored.requestedAt) ? unanswered(action, isManual) : action;
    keep([...unsent, added]);
    retry(added);
  }
}

/** Describe an action that only a click sends again. Without an answer, it may have been done. */
function unanswered(action: UnsentAction, isManual: boolean): UnsentAction {
  if (action.reason !== null) return { ...action, isManual };
  const failure = action.failure.replace(/ (was|were) NOT /, " may not have been ");
  return { ...action, isManual, failure, reason: "The page was closed before the server answered." };
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
    store(failed);
    if (!isRefusal(error) && failures < MAX_FAILURES && canRetry(failed)) retryLater(failed);
  }
}

/** Return True if it may be sent without a click. */
const canRetry = (action: UnsentAction) => !action.isManual && !isOld(action.requestedAt);

function retry(action: UnsentAction): void {
  if (!action.isSending && canRetry(action)) void attempt(action);
}

/** Return True if the server knows the run and no retry can change its answer. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && [404, 409, 422].includes(error.status);
}

function retryLater(action: UnsentAction): void {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (action.failures - 1), MAX_DELAY_MS);
  const timer = window.setTimeout(() => {
    const waiting = find(action.key);
    if (waiting?.timer !== timer) return;
    if (canRetry(waiting)) void attempt(waiting);
    else change(waiting, { timer: undefined });
  }, delay);
  change(action, { timer });
}

function forget(action: UnsentAction): void {
  clearTimeout(action.timer);
  keep(unsent.filter((other) => other !== action));
  unstore(action);
}

/** Try one failed action again now. */
export function tryAgain(key: string): void {
  const action = find(key);
  if (action && !action.isSending) void attempt(action);
}

/** Try the failed actions again: the server can be reached. */
export function retryAll(): void {
  for (const action of unsent) retry(action);
}

/** Drop an action: it is not sent again. */
export function dismiss(key: string): void {
  const action = find(key);
  if (action) forget(action);
}

window.addEventListener("online", retryAll);
window.addEventListener("pagehide", () => {
  for (const action of unsent) if (!action.isSending && canRetry(action)) action.sendOnUnload?.();
});
// Another tab sent or dismissed an action.
followStored(() => {
  const stored = storedActions();
  for (const action of unsent)
    if (!action.isSending && !stored.some(({ key }) => key === action.key)) forget(action);
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
