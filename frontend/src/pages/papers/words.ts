import type { PaperItem, PaperPreview } from "@/api/types";
import { duration, plural, short } from "@/ui/format";

/** The shares of a budget that can be run, with what the buttons say. */
export const SHARES = [
  { share: 0.01, name: "Run at 1 %" },
  { share: 0.1, name: "Run at 10 %" },
  { share: 1, name: "Run all" },
] as const;

export type Share = (typeof SHARES)[number]["share"];

type Cost = Pick<PaperPreview, "runs" | "frames" | "seconds" | "places" | "unmeasured">;

/** "50 runs, 16 G frames, about 31 h on 1 worker". */
export function partCost({ runs, frames, seconds, places, unmeasured }: Cost): string {
  const cost = `${plural(runs, "run")}, ${short(frames, "frames")}`;
  if (seconds !== null) return `${cost}, about ${duration(seconds)} on ${plural(places, "worker")}`;
  return `${cost}; how long is not known, since no run of ${unmeasured.join(" or ")} has trained here`;
}

export function ownParts(item: PaperItem): string[] {
  return item.parts.filter((part) => !part.stands_in).map(({ name }) => name);
}
