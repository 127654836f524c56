/** Changes of settings in words. */

import type { RunChange } from "@/api/types";
import { shown } from "@/config-form/draft";
import type { FormField } from "@/config-form/schema";
import { short } from "@/ui/format";

/** Return the change of each field, such as: Learning rate 0.0007 → 0.0001. */
export function describeChange(change: RunChange, fields: readonly FormField[]): string[] {
  return Object.entries(change.fields).map(([name, value]) => {
    const title = fields.find((field) => field.name === name)?.title ?? name;
    return `${title} ${shown(change.previous[name])} → ${shown(value)}`;
  });
}

/** Return whether the change waits, or since which step the run uses it. */
export function changeState(change: RunChange): string {
  return change.applied_step === null ? "Waiting" : `Applied at ${short(change.applied_step, "steps")}`;
}
