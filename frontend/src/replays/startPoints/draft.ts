/** Draft of the form that saves start points, its checks, and the API request. */

import type { StartPointsRequest } from "@/api/types";
import { isWholeBetween } from "@/config-form/numbers";

export const MAX_POINTS = 100;
const USUAL_DISTANCE = 100;

export const FIELDS = ["name", "every"] as const;
export type Problems = Partial<Record<(typeof FIELDS)[number], string>>;

/** The decision to save, and the number of decisions of its replay. */
export interface Place {
  replay: number;
  decision: number;
  decisions: number;
}

export interface Draft {
  name: string;
  points: "one" | "several";
  every: string;
}

/** Return the smallest distance of points that is always allowed. */
const leastDistance = ({ decisions }: Place) => Math.ceil(decisions / MAX_POINTS);

export const createDraft = (place: Place): Draft => ({
  name: `Replay ${place.replay}, decision ${place.decision + 1}`,
  points: "one",
  every: String(Math.max(USUAL_DISTANCE, leastDistance(place))),
});

/** Return the number of points: the decision, and every k-th before and after it. */
export function countPoints({ points, every }: Draft, { decision, decisions }: Place): number {
  if (points === "one") return 1;
  const distance = Number(every);
  return Math.ceil((decisions - (decision % distance)) / distance);
}

/** Return what the server would refuse, by field. */
export function findProblems(draft: Draft, place: Place): Problems {
  const problems: Problems = {};
  if (draft.name.trim() === "") problems.name = "Enter a name.";
  if (draft.points === "one") return problems;
  if (!isWholeBetween(draft.every, 1, Number.MAX_SAFE_INTEGER))
    problems.every = "Enter a whole number of decisions, 1 or more.";
  else if (countPoints(draft, place) > MAX_POINTS)
    problems.every = `A set has at most ${MAX_POINTS} points. Enter ${leastDistance(place)} or more.`;
  return problems;
}

export const toRequest = ({ name, points, every }: Draft, { decision }: Place): StartPointsRequest => ({
  name: name.trim(),
  decision,
  every: points === "several" ? Number(every) : null,
});
