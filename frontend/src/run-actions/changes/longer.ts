/** Training a run longer, and the effect on settings that decay over all steps. */

import type { ListedRun, RunConfig } from "@/api/types";

/** Shortcuts of the form. */
export const LONGER = [
  { label: "+25 %", factor: 1.25 },
  { label: "+50 %", factor: 1.5 },
  { label: "×2", factor: 2 },
];

export const hasEnded = (run: Pick<ListedRun, "state">) =>
  run.state === "finished" || run.state === "failed" || run.state === "stopped";

const DECAYING = [
  ["learning_rate_decay", "learning rate"],
  ["entropy_cost_decay", "entropy weight"],
] as const;

/** Return the share of its first value that a decaying setting has at a step, as the trainer computes it. */
export function decayShare(decay: unknown, step: number, total: number): number {
  const left = Math.max(0, 1 - step / total);
  return decay === "linear" ? left : decay === "late" ? Math.min(1, 3 * left) : 1;
}

/** Return a sentence for each decaying setting that a new total moves. */
export function decayNotes(values: RunConfig, current: RunConfig, step: number): string[] {
  const [before, after] = [Number(current["total_steps"]), Number(values["total_steps"])];
  if (!(after > 0) || before === after) return [];
  return DECAYING.flatMap(([name, title]) => {
    const [was, is] = [decayShare(current[name], step, before), decayShare(values[name], step, after)].map(
      (share) => Math.round(100 * share),
    );
    return was === is
      ? []
      : [`The ${title} decays over all steps: it moves from ${was} % to ${is} % of its first value.`];
  });
}
