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
])("finds the decision of picture %i", (picture, decision) => {
  expect(decisionAt(thoughts.picture, picture)).toBe(decision);
});

it("finds the same decision as a linear search, also with uneven decisions", () => {
  const pictures = [5, 6, 10, 30, 31, 32, 100];
  for (let picture = 0; picture < 110; picture += 1) {
    const last = pictures.findLastIndex((made) => made <= picture);
    expect(decisionAt(pictures, picture)).toBe(Math.max(0, last));
  }
});

describe("the jumps of the step buttons", () => {
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
  it("is the decision whose return differs most from the estimate, in either direction", () => {
    const surprised = thoughtsOf(aTrack({ value: [0, 0, 0, 0, 0, 0.6, 0, 0, 0, 0] }));
    expect(greatestSurprise(surprised)).toBe(5);
    expect(surpriseAt(surprised, 5)).toBeCloseTo(-1.59);
  });

  it("ignores NaN, and is null if every return equals its estimate", () => {
    const obtained = aTrack().obtained;
    expect(greatestSurprise(thoughtsOf(aTrack({ value: [...obtained] })))).toBeNull();
    const odd = aTrack({ value: ["NaN", "Infinity", 0, 0, 0, 0, 0, 0, 0, 0] });
    expect(greatestSurprise(thoughtsOf(odd))).toBe(2);
  });
});

it("parses NaN and infinities, which the API sends as strings", () => {
  const { value, numbers } = thoughtsOf(aTrack({ value: ["NaN", "-Infinity"], numbers: [["Infinity", 1]] }));
  expect(value).toEqual([NaN, -Infinity]);
  expect(numbers).toEqual([[Infinity, 1]]);
});

it("describes how the return is computed", () => {
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
