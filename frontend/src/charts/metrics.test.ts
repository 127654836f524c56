import { expect, it } from "vitest";
import { metricSections, metricTitle } from "./metrics";

it("puts what readers ask for first and unknown prefixes last", () => {
  const names = [
    "zeta/q",
    "system/cpu_percent",
    "train/value_loss",
    "train/policy_loss",
    "episode/return",
    "train/custom",
  ];
  expect(metricSections(names).map(({ title, names: members }) => [title, members])).toEqual([
    ["Episodes", ["episode/return"]],
    ["Learning", ["train/policy_loss", "train/value_loss", "train/custom"]],
    ["System", ["system/cpu_percent"]],
    ["Zeta", ["zeta/q"]],
  ]);
});

it("words a name that it does not know", () => {
  expect(metricTitle("gorila/discarded_stale")).toBe("Discarded stale");
  expect(metricTitle("episode/return")).toBe("Return per episode");
});
