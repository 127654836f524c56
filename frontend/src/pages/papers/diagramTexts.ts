import type { PaperDiagram } from "@/api/types";
import { isSize, measured, nearestPercent, short } from "@/ui/format";

type Reading = PaperDiagram["boxes"][number]["readings"][number];

/** Return a run's number as text: 16, 7.9 states, 42 %. */
export function readingText({ value, unit }: Pick<Reading, "value" | "unit">): string {
  if (typeof value === "string") return value;
  if (value === null) return short(value);
  if (unit === "share") return nearestPercent(value);
  if (isSize(unit)) return measured(value, unit);
  return short(value, unit);
}

/** Return the title of a box by its name. */
export function titleOf({ boxes }: PaperDiagram, name: string): string {
  return boxes.find((box) => box.name === name)?.title ?? name;
}
