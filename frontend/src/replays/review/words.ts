/** Sentences about reviews. */

import type { Review, ReviewedDecision } from "@/api/types";
import { plural, score, short } from "@/ui/format";
import { formatEstimate } from "../futures/words";

type Finding = ReviewedDecision["finding"];

/** The meaning of a mark on the ribbon: a mistake, no mistake shown, or not finished. */
export type Mark = "mistake" | "none" | "open";

const MARKS: Record<Finding, Mark> = {
  mistake: "mistake",
  "not shown": "none",
  "no challenger": "none",
  waiting: "open",
  testing: "open",
};
export const markOf = ({ finding }: Pick<ReviewedDecision, "finding">): Mark => MARKS[finding];

export const REASONS: Record<ReviewedDecision["reason"], string> = {
  lost: "before a lost point or life",
  unlikely: "an improbable action",
  unsure: "the agent was unsure",
  every: "one of every few decisions",
};

/** Return the decisions of a review in the order of the episode. */
export const reviewedOf = ({ document }: Pick<Review, "document">): readonly ReviewedDecision[] =>
  ([...(document?.reviewed ?? [])] as ReviewedDecision[]).sort((one, other) => one.decision - other.decision);

export const mistakesOf = (reviewed: readonly ReviewedDecision[]) =>
  reviewed.filter((each) => markOf(each) === "mistake");

/** Return what a decision cost: "DOWN instead of UP loses 1.74 (95 % 1.2 to 1.9)." */
export function describeMistake({ taken, better, loss }: ReviewedDecision): string {
  if (!loss) return `${taken} instead of ${better}: the loss is being measured.`;
  return `${taken} instead of ${better} loses ${formatEstimate(loss)}.`;
}

/** Return how sure that is: "16 pairs of futures; chance of so much evidence without a loss: 1 in 4.2 k at most." */
export function describeEvidence({ pairs, e_value }: ReviewedDecision): string {
  const chance = `a decision without a loss shows so much evidence once in ${short(Number(e_value))} at most`;
  return `${plural(pairs, "pair")} of futures; ${chance}`;
}

/** Return what a review has found in one sentence. */
export function summarize(review: Pick<Review, "document" | "state">): string {
  const reviewed = reviewedOf(review);
  const mistakes = mistakesOf(reviewed);
  const open = reviewed.filter((each) => markOf(each) === "open").length;
  const rest = open > 0 ? ` ${plural(open, "decision is", "decisions are")} not finished.` : "";
  const looked = plural(reviewed.length - open, "reviewed decision");
  if (mistakes.length === 0) return `No mistake is shown in ${looked}.${rest}`;
  const lost = mistakes.reduce((sum, { loss }) => sum + Number(loss?.mean ?? 0), 0);
  return `${plural(mistakes.length, "mistake")} in ${looked}, with a loss of ${score(lost)} in total.${rest}`;
}
