import type { Mark } from "@/api/types";

/** A checkpoint's mark. */
export function aMark(changes: Partial<Mark> = {}): Mark {
  return {
    kind: "checkpoint",
    step: 1000,
    frames: 4000,
    seconds: 10,
    title: "Checkpoint",
    detail: "Mean return 12.5",
    best: false,
    ...changes,
  };
}
