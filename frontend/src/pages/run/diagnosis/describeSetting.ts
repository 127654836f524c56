import type { ConfigValue, Finding } from "@/api/types";
import { shown } from "@/config-form/draft";

/** Return a suggested setting, such as: Learning rate 10 → 0.003. */
export function describeSetting({ title, current, suggested }: Finding["settings"][number]): string {
  return `${title} ${shown(current as ConfigValue)} → ${shown(suggested as ConfigValue)}`;
}
