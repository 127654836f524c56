/** Names of metrics in words, and the sections they are shown in. */

const TITLES: Record<string, string> = {
  "episode/return": "Return per episode",
  "episode/length": "Steps per episode",
  "train/policy_loss": "Policy loss",
  "train/value_loss": "Value loss",
  "train/q_mean": "Mean Q of the actions taken",
  "train/entropy": "Policy entropy",
  "train/epsilon": "Mean ε, the share of random actions",
  "train/grad_norm": "Gradient norm",
  "train/learning_rate": "Learning rate",
  "ga3c/policy_lag": "Policy lag, updates",
  "ga3c/prediction_batch": "Prediction batch, states",
  "ga3c/training_batch": "Training batch, experiences",
  "gorila/staleness": "Mean staleness of gradients, updates",
  "gorila/replay_fill": "Replay memory in use, share",
  "gorila/lost_roles": "Roles lost and replaced",
  "throughput/steps_per_second": "Steps per second",
  "throughput/frames_per_second": "Frames per second",
  "throughput/updates_per_second": "Updates per second (TPS)",
  "throughput/predictions_per_second": "Predictions per second (PPS)",
  "eval/return_mean": "Mean return in evaluation",
  "system/cpu_percent": "Processor use, %",
  "system/rss_bytes": "Memory, bytes",
  "system/gpu_percent": "GPU use, %",
};

const SECTIONS: [prefix: string, title: string][] = [
  ["episode", "Episodes"],
  ["eval", "Evaluation"],
  ["train", "Learning"],
  ["ga3c", "GA3C"],
  ["gorila", "Gorila"],
  ["throughput", "Throughput"],
  ["time", "Time"],
  ["system", "System"],
];

/** What one chart of a run shows. */
export interface Chart {
  title: string;
  metrics: readonly string[];
  /** What each metric is of their sum, stacked. */
  shares?: boolean;
  /** Whole numbers that change now and then: smoothing would show what never was. */
  counts?: boolean;
}

/** Metrics that say more in one chart than apart. */
const TOGETHER: readonly Chart[] = [
  {
    title: "Agents, predictors and trainers",
    metrics: ["ga3c/agents", "ga3c/predictors", "ga3c/trainers"],
    counts: true,
  },
  { title: "Waiting in the queues", metrics: ["ga3c/prediction_queue", "ga3c/training_queue"] },
  {
    title: "Gradients by staleness, updates",
    metrics: [
      "gorila/staleness_0",
      "gorila/staleness_1_to_3",
      "gorila/staleness_4_to_15",
      "gorila/staleness_16_to_63",
      "gorila/staleness_64_to_255",
      "gorila/staleness_256_and_more",
    ],
    shares: true,
  },
  {
    title: "Gradients discarded",
    metrics: ["gorila/discarded_stale", "gorila/discarded_outlier"],
    counts: true,
  },
  {
    title: "Busy share of each role",
    metrics: ["gorila/actor_busy", "gorila/learner_busy", "gorila/shard_busy", "gorila/replay_busy"],
  },
  {
    title: "Bytes per second to and from the shards",
    metrics: ["gorila/bytes_pushed_per_second", "gorila/bytes_pulled_per_second"],
  },
  {
    title: "Where the time goes",
    metrics: ["time/environment", "time/selection", "time/learning"],
    shares: true,
  },
];

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function metricTitle(name: string): string {
  const last = name.split("/").at(-1) ?? name;
  return TITLES[name] ?? capitalised(last.replaceAll("_", " "));
}

export interface MetricSection {
  prefix: string;
  title: string;
  names: string[];
}

/** Metric names by prefix; known sections first, in the order a reader asks for them. */
export function metricSections(names: readonly string[]): MetricSection[] {
  const prefixOf = (name: string) => (name.includes("/") ? (name.split("/")[0] ?? "") : "other");
  const rank = (prefix: string) => {
    const place = SECTIONS.findIndex(([known]) => known === prefix);
    return place === -1 ? SECTIONS.length : place;
  };
  const prefixes = [...new Set(names.map(prefixOf))].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const titled = Object.keys(TITLES);
  const order = (name: string) => (titled.includes(name) ? titled.indexOf(name) : titled.length);
  return prefixes.map((prefix) => ({
    prefix,
    title: SECTIONS.find(([known]) => known === prefix)?.[1] ?? capitalised(prefix),
    names: names
      .filter((name) => prefixOf(name) === prefix)
      .sort((a, b) => order(a) - order(b) || a.localeCompare(b)),
  }));
}

export function chartOf(metric: string): Chart {
  return { title: metricTitle(metric), metrics: [metric] };
}

/** The charts of some metrics: those that belong together first, in one chart as soon as two of them are there. */
export function chartsOf(names: readonly string[]): Chart[] {
  const together = TOGETHER.map((chart) => ({
    ...chart,
    metrics: chart.metrics.filter((name) => names.includes(name)),
  })).filter(({ metrics }) => metrics.length > 1);
  const drawn = new Set(together.flatMap(({ metrics }) => metrics));
  return [...together, ...names.filter((name) => !drawn.has(name)).map(chartOf)];
}
