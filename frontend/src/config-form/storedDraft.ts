/** Storage of typed configuration fields in the browser tab, so that they survive a reload. */

import { tabStorage } from "@/ui/pageStorage";
import type { Draft } from "./draft";

const storageKey = (name: string, key: string) => `arcadia-typed-${name}-${key}`;

/** Return the fields typed in a named form for this starting point. */
export const readTyped = (name: string, key: string) => tabStorage.read<Draft>(storageKey(name, key));

/** Store only the fields that differ from the initial draft. */
export function writeTyped(name: string, key: string, draft: Draft, initial: Draft): void {
  const typed = Object.entries(draft).filter(([field, text]) => text !== initial[field]);
  if (typed.length > 0) tabStorage.keep(storageKey(name, key), Object.fromEntries(typed));
  else forgetTyped(name, key);
}

export const forgetTyped = (name: string, key: string) => tabStorage.forget(storageKey(name, key));
