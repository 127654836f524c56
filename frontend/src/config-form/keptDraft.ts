/** What was typed into a configuration's form and outlives a reload of the page, kept by the browser's tab. */

import { tabStorage } from "@/ui/pageStorage";
import type { Draft } from "./draft";

const place = (name: string, key: string) => `arcadia-typed-${name}-${key}`;

/** The fields that were typed under a name for this starting point. */
export const readTyped = (name: string, key: string) => tabStorage.read<Draft>(place(name, key));

/** Keep the fields that differ from what the form began with: all others are as they are when it begins again. */
export function writeTyped(name: string, key: string, draft: Draft, began: Draft): void {
  const typed = Object.entries(draft).filter(([field, text]) => text !== began[field]);
  if (typed.length > 0) tabStorage.keep(place(name, key), Object.fromEntries(typed));
  else forgetTyped(name, key);
}

export const forgetTyped = (name: string, key: string) => tabStorage.forget(place(name, key));
