import { expect, it } from "vitest";
import { aSaliency } from "@/testing/saliency";
import { painted, salienciesOf, strengthOf } from "./saliency";

const found = salienciesOf(aSaliency());
const pixel = (shown: "policy" | "value" | "both", decision: number, cell: number) => [
  ...painted(found, decision, shown).slice(4 * cell, 4 * cell + 4),
];

it("paints saliency of the policy blue and of the value red", () => {
  expect(pixel("policy", 0, 1)).toEqual([40, 130, 255, 204]);
  expect(pixel("value", 0, 2)).toEqual([255, 50, 30, 204]);
  expect(pixel("both", 0, 1)).toEqual([40, 130, 255, 204]);
});

it("does not cover cells without saliency", () => {
  expect(pixel("both", 0, 0)[3]).toBe(0);
  expect(pixel("policy", 0, 2)[3]).toBe(0);
});

it("mixes the colors of a cell that is salient for both", () => {
  expect(pixel("both", 1, 3)).toEqual([148, 90, 142, 102]);
});

it("paints the square root of the saliency, on one scale over the whole replay", () => {
  const { policy } = found;
  expect(policy.full).toBe(1);
  expect(strengthOf(policy, 4, 0, 1)).toBe(1);
  expect(strengthOf(policy, 4, 1, 3)).toBe(0.5);
});

it("paints nothing if the network diverged", () => {
  const diverged = salienciesOf(aSaliency({ policy_peak: ["NaN", "Infinity"] }));
  expect(strengthOf(diverged.policy, 4, 0, 1)).toBe(0);
  expect(strengthOf(diverged.policy, 4, 1, 3)).toBe(0);
});
