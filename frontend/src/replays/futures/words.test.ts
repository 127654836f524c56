import { describe, expect, it } from "vitest";
import { aChallenge, aFuturesDocument } from "@/testing/futures";
import {
  conclude,
  describeChallenge,
  describeLostLives,
  findBetter,
  formatActions,
  summarize,
} from "./words";

describe("the conclusion", () => {
  it.each([
    [0.5, "The critic is too low."],
    [1, "No error of the critic is shown."],
    [3, "The critic is too high."],
  ])("compares V = %d with the interval", (value, words) => {
    const bootstrapped = { count: 0, mean: null, interval: null };
    expect(conclude(aFuturesDocument({ value, bootstrapped }))).toBe(words);
  });

  it("depends on the critic's later estimates if futures end in them", () => {
    expect(conclude(aFuturesDocument({ value: 0.5 }))).toBe(
      "The critic is too low if its estimates at the end of 4 of 8 futures are right.",
    );
    expect(conclude(aFuturesDocument({ value: 1 }))).toBe("No error of the critic is shown.");
  });

  it("does not judge the critic by forced actions or another temperature", () => {
    expect(conclude(aFuturesDocument({ value: 3, temperature: 2 }))).toContain(
      "These futures return less than V",
    );
    const document = aFuturesDocument({ first: ["LEFT", "LEFT"] });
    expect(conclude(document)).toBe(
      "These futures return more than V if the critic's estimates at the end of 4 of 8 futures are right.",
    );
    expect(summarize(document)).toBe(
      "V = 0.5. 8 futures that begin with LEFT × 2 average 1.8 (95 % 0.8 to 2.7).",
    );
  });
});

it("shows as many digits as the interval needs", () => {
  const document = aFuturesDocument({ value: 50.00807, mean: 50.00012, interval: [49.99904, 50.00119] });
  expect(summarize(document)).toBe("V = 50.0081. 8 futures average 50.0001 (95 % 49.9990 to 50.0012).");
  const flat = aFuturesDocument({ value: -1.5, mean: 2, interval: [2, 2] });
  expect(conclude(flat)).toBe("All futures have the same return, so they have no interval.");
  expect(summarize(flat)).toBe("V = −1.5. 8 futures average 2 (all equal).");
});

describe("the test of another action", () => {
  const challenge = aChallenge();

  it("marks an action that fresh pairs show to be better, and says by how much", () => {
    expect(findBetter(challenge)).toBe("FIRE");
    expect(describeChallenge(challenge)).toBe(
      "FIRE is better than NOOP by 0.40 (95 % 0.25 to 0.55) up to the next reward or lost life: " +
        "64 fresh pairs of futures (e-value 152 of 20), measured with 64 others.",
    );
  });

  it("marks none without evidence, and says how many pairs it would take", () => {
    const open = { ...challenge, is_better: false, loss: null, e_value: 3.1, pairs: 256, pairs_needed: 680 };
    expect(findBetter(open)).toBeNull();
    expect(describeChallenge(open)).toBe(
      "No better action is shown. FIRE was tested against NOOP with 256 fresh pairs of futures " +
        "(e-value 3.1 of 20). About 680 pairs would show it if they continued as so far.",
    );
    expect(describeChallenge({ ...open, pairs_needed: null })).not.toContain("About");
  });

  it("is left out where no action looks better", () => {
    expect(findBetter(null)).toBeNull();
    expect(describeChallenge({ ...challenge, action: null })).toBe(
      "No action had better outcomes than NOOP, so none was tested.",
    );
  });
});

it("says how many futures lost a life and when", () => {
  expect(describeLostLives(aFuturesDocument())).toBe("3 of 8, half within 20 decisions");
  expect(describeLostLives(aFuturesDocument({ futures: [] }))).toBeNull();
});

it("shortens repeated actions", () => {
  expect(formatActions(["LEFT", "LEFT", "FIRE", "LEFT"])).toBe("LEFT × 2, FIRE, LEFT");
});
