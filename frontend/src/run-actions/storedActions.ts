/** Unsent actions in this browser, so that closing the tab loses none. All tabs share them. */

import type { ActionRequest } from "@/api/runActions";
import { inBrowser } from "@/ui/kept";

export interface StoredAction {
  key: string;
  failure: string;
  request: ActionRequest;
  /** Why the last try failed; null if it has no answer yet. */
  reason: string | null;
  /** When the user requested it, in milliseconds. */
  requestedAt: number;
}

const PLACE = "arcadia-unsent-actions";
const HOUR_MS = 3_600_000;

/** Return True if the user may have forgotten it: only a click sends it again. */
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
  const found = inBrowser.read<unknown>(PLACE);
  return Array.isArray(found) ? found.filter(isStored) : [];
}

function write(actions: StoredAction[]): void {
  if (actions.length > 0) inBrowser.keep(PLACE, actions);
  else inBrowser.forget(PLACE);
}

/** Store an action in place of an earlier one with its key. */
export function store({ key, failure, request, reason, requestedAt }: StoredAction): void {
  const others = storedActions().filter((other) => other.key !== key);
  write([...others, { key, failure, request, reason, requestedAt }]);
}

/** Remove an action, unless a newer one of another tab has its key. */
export function unstore({ key, requestedAt }: Pick<StoredAction, "key" | "requestedAt">): void {
  const stored = storedActions();
  const left = stored.filter((other) => other.key !== key || other.requestedAt !== requestedAt);
  if (left.length < stored.length) write(left);
}

/** Call back when another tab has changed the stored actions; return the function that ends it. */
export function followStored(changed: () => void): () => void {
  const listen = ({ key }: StorageEvent) => {
    if (key === PLACE || key === null) changed();
  };
  window.addEventListener("storage", listen);
  return () => window.removeEventListener("storage", listen);
}
