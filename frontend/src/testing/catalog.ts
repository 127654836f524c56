import type { Catalog } from "@/charts/metrics";

/** A few sections of the server's metric catalog. */
export const CATALOG: Catalog = [
  {
    prefix: "episode",
    title: "Episodes",
    metrics: [{ name: "episode/return", title: "Return per episode" }],
  },
  {
    prefix: "train",
    title: "Learning",
    metrics: [
      { name: "train/policy_loss", title: "Policy loss" },
      { name: "train/value_loss", title: "Value loss" },
      { name: "train/entropy", title: "Policy entropy" },
    ],
  },
  {
    prefix: "ga3c",
    title: "GA3C",
    metrics: [{ name: "ga3c/policy_lag", title: "Policy lag", unit: "updates" }],
    groups: [
      {
        title: "Agents, predictors and trainers",
        metrics: [
          { name: "ga3c/agents", title: "Agents" },
          { name: "ga3c/predictors", title: "Predictors" },
          { name: "ga3c/trainers", title: "Trainers" },
        ],
        counts: true,
      },
    ],
  },
  {
    prefix: "gorila",
    title: "Gorila",
    metrics: [{ name: "gorila/staleness", title: "Mean staleness of gradients", unit: "updates" }],
    groups: [
      {
        title: "Gradients discarded",
        metrics: [
          { name: "gorila/discarded_stale", title: "Discarded stale" },
          { name: "gorila/discarded_outlier", title: "Discarded outlier" },
        ],
        counts: true,
      },
    ],
  },
  {
    prefix: "time",
    title: "Time",
    metrics: [],
    groups: [
      {
        title: "Where the time goes",
        metrics: [
          { name: "time/environment", title: "Environment" },
          { name: "time/learning", title: "Learning" },
        ],
        shares: true,
      },
    ],
  },
  {
    prefix: "system",
    title: "System",
    metrics: [
      { name: "system/cpu_percent", title: "Processor use" },
      { name: "system/rss_bytes", title: "Memory", unit: "bytes" },
    ],
  },
];
