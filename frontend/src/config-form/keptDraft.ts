/** Drafts that outlive a reload of the page, kept by the browser's tab. */

import type { ConfigValue } from "@/api/types";
import { inTab } from "@/ui/kept";
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
export const readKept = (name: string, key: string) => inTab.read<KeptDraft>(place(name, key));

export const writeKept = (name: string, kept: KeptDraft) => inTab.keep(place(name, kept.key), kept);

export const forgetKept = (name: string, key: string) => inTab.forget(place(name, key));
