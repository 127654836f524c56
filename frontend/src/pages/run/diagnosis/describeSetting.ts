import type { ConfigValue, Finding } from "@/api/types";
import { shown } from "@/config-form/draft";

/** Return a suggested setting, such as: Learning rate 10 → 0.003. */
export function describeSetting({ title, current, suggested }: Finding["settings"][number]): string {
  // No-break spaces keep both values on one line.
  return `${title} ${shown(current as ConfigValue)}\u00a0→\u00a0${shown(suggested as ConfigValue)}`;
}
