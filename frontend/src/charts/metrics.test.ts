import { expect, it } from "vitest";
import { chartsOf, metricSections, metricTitle } from "./metrics";

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

it("draws what belongs together in one chart as soon as two of it are there, and the rest apart", () => {
  const drawn = (...names: string[]) => chartsOf(names).map(({ title, metrics }) => [title, metrics]);
  expect(drawn("ga3c/agents", "ga3c/policy_lag", "ga3c/trainers")).toEqual([
    ["Agents, predictors and trainers", ["ga3c/agents", "ga3c/trainers"]],
    ["Policy lag, updates", ["ga3c/policy_lag"]],
  ]);
  expect(drawn("ga3c/agents")).toEqual([["Agents", ["ga3c/agents"]]]);
  expect(drawn("gorila/discarded_outlier", "gorila/discarded_stale", "gorila/staleness")).toEqual([
    ["Gradients discarded", ["gorila/discarded_stale", "gorila/discarded_outlier"]],
    ["Mean staleness of gradients, updates", ["gorila/staleness"]],
  ]);
  expect(chartsOf(["time/learning", "time/environment"])).toMatchObject([{ shares: true }]);
});
