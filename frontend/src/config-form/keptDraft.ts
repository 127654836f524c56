/** Drafts that outlive a reload of the page, kept by the browser's tab. */

import type { ConfigValue } from "@/api/types";
import type { Draft } from "./draft";
import type { Reference } from "./reference";

export interface KeptDraft {
  /** The key of the starting point that the draft stands for. */
  key: string;
  reference: Reference;
  algorithm: ConfigValue;
  draft: Draft;
}

const place = (name: string, key: string) => `arcadia-draft-${name}-${key}`;

/** The draft kept under a name for this starting point. */
export function readKept(name: string, key: string): KeptDraft | null {
  try {
    const text = sessionStorage.getItem(place(name, key));
    return text === null ? null : (JSON.parse(text) as KeptDraft);
  } catch {
    // A browser may forbid storage: then nothing was kept.
    return null;
  }
}

export function writeKept(name: string, kept: KeptDraft): void {
  try {
    sessionStorage.setItem(place(name, kept.key), JSON.stringify(kept));
  } catch {
    // Forbidden or full: the draft lives as long as the page.
  }
}

export function forgetKept(name: string, key: string): void {
  try {
    sessionStorage.removeItem(place(name, key));
  } catch {
    // Forbidden: nothing was kept.
  }
}
