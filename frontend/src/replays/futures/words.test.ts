import { describe, expect, it } from "vitest";
import { aFuturesDocument } from "@/testing/futures";
import { conclude, describeLostLives, findBetter, formatActions, summarize } from "./words";

describe("the conclusion", () => {
  it.each([
    [0.5, "The critic is too low."],
    [1, "The critic agrees."],
    [3, "The critic is too high."],
  ])("compares V = %d with the interval", (value, words) => {
    expect(conclude(aFuturesDocument({ value }))).toBe(words);
  });

  it("does not judge the critic by forced actions", () => {
    const document = aFuturesDocument({ first: ["LEFT", "LEFT"] });
    expect(conclude(document)).toBe("This is better than V.");
    expect(summarize(document)).toBe(
      "V = 0.5. 8 futures that begin with LEFT × 2 average 1.8 (95 % 0.8 to 2.7).",
    );
  });
});

it("shows as many digits as the interval needs", () => {
  const document = aFuturesDocument({ value: 50.00807, mean: 50.00012, interval: [49.99904, 50.00119] });
  expect(summarize(document)).toBe("V = 50.0081. 8 futures average 50.0001 (95 % 49.9990 to 50.0012).");
  const flat = aFuturesDocument({ value: -1.5, mean: 2, interval: [2, 2] });
  expect(summarize(flat)).toBe("V = −1.5. 8 futures average 2 (95 % 2 to 2).");
});

describe("the better action", () => {
  const { actions } = aFuturesDocument();

  it("has an interval that excludes the mean of the action taken", () => {
    expect(findBetter(actions, "NOOP")).toBe("FIRE");
    const unclear = actions.map((action) => ({ ...action, interval: [0.4, 2] as [number, number] }));
    expect(findBetter(unclear, "NOOP")).toBeNull();
  });

  it("is none if the agent took the best one", () => {
    expect(findBetter(actions, "FIRE")).toBeNull();
    expect(findBetter(actions, undefined)).toBeNull();
  });
});

it("says how many futures lost a life and when", () => {
  expect(describeLostLives(aFuturesDocument())).toBe("3 of 8, half within 20 decisions");
  expect(describeLostLives(aFuturesDocument({ futures: [] }))).toBeNull();
});

it("shortens repeated actions", () => {
  expect(formatActions(["LEFT", "LEFT", "FIRE", "LEFT"])).toBe("LEFT × 2, FIRE, LEFT");
});
