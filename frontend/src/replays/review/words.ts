/** Sentences about reviews. */

import type { Future, ReviewDocument, ReviewedDecision } from "@/api/types";
import { capitalize, duration, exact, plural, score, short } from "@/ui/format";
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
export const reviewedOf = ({ document }: { document: ReviewDocument | null }): readonly ReviewedDecision[] =>
  ([...(document?.reviewed ?? [])] as ReviewedDecision[]).sort((one, other) => one.decision - other.decision);

export const mistakesOf = (reviewed: readonly ReviewedDecision[]) =>
  reviewed.filter((each) => markOf(each) === "mistake");

/** Return the loss of a decision, or 0 if it is not measured. */
export const lossOf = ({ loss }: Pick<ReviewedDecision, "loss">): number => Number(loss?.mean ?? 0);

/** Return the sum of the losses. It is a bound, because the losses of several decisions overlap. */
export const sumOfLosses = (mistakes: readonly ReviewedDecision[]): number =>
  mistakes.reduce((sum, each) => sum + lossOf(each), 0);

/** Return what a decision cost: "DOWN instead of UP loses 1.74 (95 % 1.2 to 1.9)." */
export function describeMistake({ taken, better, loss }: ReviewedDecision): string {
  if (!loss) return `${taken} instead of ${better}: the loss is being measured.`;
  return `${taken} instead of ${better} loses ${formatEstimate(loss)}.`;
}

/** Return how sure that is: "Very strong evidence from 16 pairs of futures: a decision … once in 4.2 k at most." */
export function describeEvidence({ pairs, e_value }: ReviewedDecision): string {
  const evidence = Number(e_value);
  const strength =
    evidence >= 1000 ? "Very strong evidence" : evidence >= 100 ? "Strong evidence" : "Evidence";
  const chance = `a decision without a loss shows so much once in ${short(evidence)} at most`;
  return `${strength} from ${plural(pairs, "pair")} of futures: ${chance}`;
}

/** Return the loss of a decision in a sentence. */
export const describeLoss = ({ loss }: ReviewedDecision, clipRewards: boolean): string =>
  loss
    ? `This lost ${formatEstimate(loss)} ${clipRewards ? "up to the next point or lost life" : "of the reward"}, measured with ${plural(loss.count, "pair")} of futures.`
    : "The loss is being measured.";

/** Return what a review has found in one sentence. */
export function summarize(review: { document: ReviewDocument | null }): string {
  const reviewed = reviewedOf(review);
  const mistakes = mistakesOf(reviewed);
  const open = reviewed.filter((each) => markOf(each) === "open").length;
  const rest = open > 0 ? ` ${plural(open, "decision is", "decisions are")} not finished.` : "";
  const looked = plural(reviewed.length - open, "reviewed decision");
  if (mistakes.length === 0) return `No mistake is shown in ${looked}.${rest}`;
  return `${plural(mistakes.length, "mistake")} in ${looked}.${rest}`;
}

/** Return which decisions were reviewed, and why: "60 of 812 decisions: 20 before a lost point or life, …". */
export function describeSelection(reviewed: readonly ReviewedDecision[], decisions: number): string {
  const reasons = SELECTED.flatMap(([reason, words]) => {
    const count = reviewed.filter((each) => each.reason === reason).length;
    return count > 0 ? `${count} ${words}` : [];
  });
  return `${exact(reviewed.length)} of ${plural(decisions, "decision")}: ${reasons.join(", ")}`;
}

const SELECTED: readonly (readonly [ReviewedDecision["reason"], string])[] = [
  ["lost", "before a lost point or life"],
  ["unlikely", "with an improbable action"],
  ["unsure", "at which the agent was unsure"],
  ["every", "at equal distances"],
];

/** Return what a review cost: "12 480 simulated futures, 45 s". */
export const describeCost = ({ simulations, seconds }: Pick<ReviewDocument, "simulations" | "seconds">) =>
  `${exact(simulations)} simulated ${simulations === 1 ? "future" : "futures"}, ${duration(Number(seconds))}`;

/** Return how a future ended: "+1 after 48 decisions", "a life lost after 31 decisions". */
export function describeEnd({ score: points, decisions, life_lost_after, ended }: Future): string {
  const after = `after ${plural(decisions, "decision")}`;
  const gained = Number(points);
  if (gained !== 0) return `${gained > 0 ? "+" : ""}${score(points)} ${after}`;
  if (life_lost_after !== null) return `a life lost after ${plural(life_lost_after, "decision")}`;
  if (ended === "over") return `over ${after}`;
  return `nothing within ${plural(decisions, "decision")}`;
}

/** Return the agent's number for an action: "62.0 %" for a policy, or a Q-value. */
export function formatNumber(number: number | undefined, kind: "policy" | "values" | "gaussian"): string {
  if (number === undefined) return "–";
  return kind === "policy" ? `${(number * 100).toFixed(1)} %` : score(number);
}

/** Return the heading of a mistake: "Decision 131: UP instead of DOWN". */
export const titleOf = ({ decision, taken, better }: ReviewedDecision) =>
  `${capitalize(`decision ${exact(decision + 1)}`)}: ${taken} instead of ${better}`;
