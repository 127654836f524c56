import { describe, expect, it } from "vitest";
import { aTrack } from "@/testing/tracks";
import { decisionAt, greatestSurprise, howCounted, jumpsFrom, surpriseAt, thoughtsOf } from "./track";

const thoughts = thoughtsOf(aTrack());

it.each([
  [0, 0],
  [3, 0],
  [4, 1],
  [7, 1],
  [36, 9],
  [39, 9],
  [4000, 9],
])("finds the decision behind picture %i", (picture, decision) => {
  expect(decisionAt(thoughts.picture, picture)).toBe(decision);
});

it("finds the same decision as a search from the beginning, where decisions lie unevenly", () => {
  const pictures = [5, 6, 10, 30, 31, 32, 100];
  for (let picture = 0; picture < 110; picture += 1) {
    const last = pictures.findLastIndex((made) => made <= picture);
    expect(decisionAt(pictures, picture)).toBe(Math.max(0, last));
  }
});

describe("what a decision leads to", () => {
  it.each([
    [0, null, 2, 8],
    [2, null, 6, 8],
    [4, 2, 6, 8],
    [6, 2, null, 8],
    [8, 6, null, null],
  ])("from decision %i", (from, previousReward, nextReward, nextLostLife) => {
    expect(jumpsFrom(thoughts, from)).toMatchObject({ previousReward, nextReward, nextLostLife });
  });
});

describe("the greatest surprise", () => {
  it("is where what came was furthest from the estimate, whichever way", () => {
    const surprised = thoughtsOf(aTrack({ value: [0, 0, 0, 0, 0, 0.6, 0, 0, 0, 0] }));
    expect(greatestSurprise(surprised)).toBe(5);
    expect(surpriseAt(surprised, 5)).toBeCloseTo(-1.59);
  });

  it("is not where no number is, and nowhere if all came as estimated", () => {
    const obtained = aTrack().obtained;
    expect(greatestSurprise(thoughtsOf(aTrack({ value: [...obtained] })))).toBeNull();
    const odd = aTrack({ value: ["NaN", "Infinity", 0, 0, 0, 0, 0, 0, 0, 0] });
    expect(greatestSurprise(thoughtsOf(odd))).toBe(2);
  });
});

it("reads the words for numbers that JSON has not", () => {
  const { value, numbers } = thoughtsOf(aTrack({ value: ["NaN", "-Infinity"], numbers: [["Infinity", 1]] }));
  expect(value).toEqual([NaN, -Infinity]);
  expect(numbers).toEqual([[Infinity, 1]]);
});

it("says how the return is counted", () => {
  expect(howCounted(thoughts.head)).toBe(
    "Return obtained: rewards clipped to ±1, discounted by γ = 0.99 up to a lost life.",
  );
  const other = { clip_rewards: false, life_loss_ends_episode: false, ended: "unfinished" as const };
  expect(howCounted(aTrack({ head: other }).head)).toBe(
    "Return obtained: rewards discounted by γ = 0.99; after the last frame, the agent's own estimate. " +
      "The recording stopped before the episode ended. Its score covers only the recorded part.",
  );
  const whole = { ...other, ended: "cut off" as const, bootstraps: false };
  expect(howCounted(aTrack({ head: whole }).head)).toBe("Return obtained: rewards discounted by γ = 0.99.");
});
