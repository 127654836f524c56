import type { PaperItem, PaperPreview } from "@/api/types";
import { duration, plural, short } from "@/ui/format";

/** Shares of a budget with their button labels. */
export const SHARES = [
  { share: 0.01, name: "Run at 1 %" },
  { share: 0.1, name: "Run at 10 %" },
  { share: 1, name: "Run all" },
] as const;

export type Share = number;

type Cost = Pick<
  PaperPreview,
  "runs" | "frames" | "seconds" | "concurrent_runs" | "unmeasured" | "estimated"
>;

/** Return the cost of a part: "50 runs, 16 G frames, about 31 h on 1 worker". */
export function partCost({ runs, frames, seconds, concurrent_runs, unmeasured, estimated }: Cost): string {
  const cost = `${plural(runs, "run")}, ${short(frames, "frames")}`;
  if (seconds !== null) {
    const rough = estimated.length > 0 ? ", estimated from similar environments" : "";
    return `${cost}, about ${duration(seconds)} on ${plural(concurrent_runs, "worker")}${rough}`;
  }
  return `${cost}. Duration unknown: no run of ${namesOf(unmeasured)} has trained here`;
}

const MAX_NAMED = 3;

/** Return some of the names: "A3C on Pong or A3C on Breakout or 5 more kinds". */
function namesOf(kinds: string[]): string {
  const more = kinds.length - MAX_NAMED;
  const named = kinds.slice(0, MAX_NAMED);
  return [...named, ...(more > 0 ? [plural(more, "more kind", "more kinds")] : [])].join(" or ");
}

/** Return the smallest share at which all of these parts give meaningful results. */
export function suggestedShare(item: PaperItem, parts: string[]): Share {
  const chosen = item.parts.filter(({ name }) => parts.includes(name));
  return Math.max(0.01, ...chosen.map(({ suggested_share }) => suggested_share));
}

export function ownParts(item: PaperItem): string[] {
  return item.parts.filter((part) => !part.stands_in).map(({ name }) => name);
}
