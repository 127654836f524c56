import { expect, it } from "vitest";
import { CATALOG } from "@/testing/catalog";
import { chartsOf, metricSections, metricTitle, returnsFirst } from "./metrics";

it("sorts sections in catalog order, with unknown prefixes last", () => {
  const names = [
    "zeta/q",
    "system/cpu_percent",
    "train/value_loss",
    "train/policy_loss",
    "episode/return",
    "train/custom",
  ];
  expect(metricSections(CATALOG, names).map(({ title, names: members }) => [title, members])).toEqual([
    ["Episodes", ["episode/return"]],
    ["Learning", ["train/policy_loss", "train/value_loss", "train/custom"]],
    ["System", ["system/cpu_percent"]],
    ["Zeta", ["zeta/q"]],
  ]);
});

it("puts the return first, then metrics that a script names like one", () => {
  const names = ["loss", "rollout/ep_rew_mean", "eval/return", "episode/return"];
  expect(returnsFirst(names)).toEqual(["episode/return", "rollout/ep_rew_mean", "eval/return", "loss"]);
});

it("lists single metrics before those that share a chart, in catalog order", () => {
  const names = ["gorila/discarded_outlier", "gorila/discarded_stale", "gorila/staleness"];
  expect(metricSections(CATALOG, names)[0]?.names).toEqual([
    "gorila/staleness",
    "gorila/discarded_stale",
    "gorila/discarded_outlier",
  ]);
});

it("adds the unit to a title, and makes titles of unknown names", () => {
  expect(metricTitle(CATALOG, "episode/return")).toBe("Return per episode");
  expect(metricTitle(CATALOG, "ga3c/policy_lag")).toBe("Policy lag, updates");
  expect(metricTitle(CATALOG, "system/rss_bytes")).toBe("Memory");
  expect(metricTitle(CATALOG, "other/made_up")).toBe("Made up");
  expect(metricTitle([], "episode/return")).toBe("Return");
});

it("draws related metrics in one chart if there are at least two, and the others separately", () => {
  const drawn = (...names: string[]) =>
    chartsOf(CATALOG, names).map(({ title, metrics }) => [title, metrics]);
  expect(drawn("ga3c/agents", "ga3c/policy_lag", "ga3c/trainers")).toEqual([
    ["Agents, predictors and trainers", ["ga3c/agents", "ga3c/trainers"]],
    ["Policy lag, updates", ["ga3c/policy_lag"]],
  ]);
  expect(drawn("ga3c/agents")).toEqual([["Agents", ["ga3c/agents"]]]);
  expect(drawn("gorila/discarded_outlier", "gorila/discarded_stale", "gorila/staleness")).toEqual([
    ["Gradients discarded", ["gorila/discarded_stale", "gorila/discarded_outlier"]],
    ["Mean staleness of gradients, updates", ["gorila/staleness"]],
  ]);
  expect(chartsOf(CATALOG, ["time/learning", "time/environment"])).toMatchObject([{ shares: true }]);
  expect(chartsOf(CATALOG, ["ga3c/agents", "ga3c/trainers"])).toMatchObject([{ counts: true }]);
});
