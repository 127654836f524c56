import { expect, it } from "vitest";
import { countPoints, createDraft, type Draft, findProblems } from "./draft";

const place = { replay: 2, decision: 0, decisions: 901 };
const several = (every: string): Draft => ({ name: "mine", points: "several", every });

it("names the smallest distance that fits when there are too many points", () => {
  expect(countPoints(several("9"), place)).toBe(101);
  expect(findProblems(several("9"), place).every).toBe("A set has at most 100 points. Enter 10 or more.");
  expect(findProblems(several("10"), place)).toEqual({});
});

it("proposes a distance that fits a long episode", () => {
  const long = { ...place, decisions: 27_000 };
  const draft: Draft = { ...createDraft(long), points: "several" };
  expect([draft.every, countPoints(draft, long), findProblems(draft, long)]).toEqual(["270", 100, {}]);
});
