/** Unsent actions in the browser's storage, so that closing the tab loses none. All tabs share them. */

import type { ActionRequest } from "@/api/runActions";
import { browserStorage } from "@/ui/pageStorage";

export interface StoredAction {
  key: string;
  failure: string;
  request: ActionRequest;
  /** Why the last attempt failed. Null without a response. */
  reason: string | null;
  /** When the user requested it, in milliseconds. */
  requestedAt: number;
}

const STORAGE_KEY = "arcadia-unsent-actions";
const HOUR_MS = 3_600_000;

/** Return true if the user may have forgotten the action. Only a click sends an old action. */
export const isOld = (requestedAt: number) => Date.now() - requestedAt > HOUR_MS;

function isStored(value: unknown): value is StoredAction {
  const { key, failure, request, requestedAt } = (value ?? {}) as Partial<StoredAction>;
  return (
    typeof key === "string" &&
    typeof failure === "string" &&
    typeof requestedAt === "number" &&
    request?.target !== undefined
  );
}

export function storedActions(): StoredAction[] {
  const stored = browserStorage.read<unknown>(STORAGE_KEY);
  return Array.isArray(stored) ? stored.filter(isStored) : [];
}

function write(actions: StoredAction[]): void {
  if (actions.length > 0) browserStorage.keep(STORAGE_KEY, actions);
  else browserStorage.forget(STORAGE_KEY);
}

/** Store an action. It replaces an earlier one with the same key. */
export function store({ key, failure, request, reason, requestedAt }: StoredAction): void {
  const others = storedActions().filter((other) => other.key !== key);
  write([...others, { key, failure, request, reason, requestedAt }]);
}

/** Remove an action, unless another tab has stored a newer one with the same key. */
export function unstore({ key, requestedAt }: Pick<StoredAction, "key" | "requestedAt">): void {
  const stored = storedActions();
  const left = stored.filter((other) => other.key !== key || other.requestedAt !== requestedAt);
  if (left.length < stored.length) write(left);
}

/** Call `onChange` when another tab changes the stored actions. Return a function that unsubscribes. */
export function subscribeToStored(onChange: () => void): () => void {
  const listen = ({ key }: StorageEvent) => {
    if (key === STORAGE_KEY || key === null) onChange();
  };
  window.addEventListener("storage", listen);
  return () => window.removeEventListener("storage", listen);
}
