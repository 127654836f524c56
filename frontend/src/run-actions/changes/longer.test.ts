import { expect, it } from "vitest";
import { decayNotes, decayShare } from "./longer";

it("computes the decay as the trainer does", () => {
  expect(decayShare("linear", 250, 1000)).toBe(0.75);
  expect(decayShare("late", 500, 1000)).toBe(1);
  expect(decayShare("late", 900, 1000)).toBeCloseTo(0.3);
  expect(decayShare("none", 900, 1000)).toBe(1);
  expect(decayShare("linear", 1001, 1000)).toBe(0);
});

it("says how a new total moves decaying settings", () => {
  const current = { total_steps: 1000, learning_rate_decay: "linear", entropy_cost_decay: "none" };
  expect(decayNotes({ ...current, total_steps: 2000 }, current, 1000)).toEqual([
    "The learning rate decays over all steps: it moves from 0 % to 50 % of its first value.",
  ]);
  expect(decayNotes(current, current, 1000)).toEqual([]);
  expect(decayNotes({ ...current, learning_rate_decay: "none" }, current, 1000)).toEqual([]);
});
