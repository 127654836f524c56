// Shapes of the API as the pages name them.

export type RunState = "queued" | "starting" | "running" | "finished" | "failed" | "paused" | "stopped";
export type ConfigValue = string | number | boolean | null;
export type RunConfig = Record<string, ConfigValue>;
/** JSON has no NaN or infinity: they travel as these words. */
export type MetricValue = number | "NaN" | "Infinity" | "-Infinity";

export interface Run {
  id: number;
  name: string;
  state: RunState;
  desired: "run" | "pause" | "stop";
  algorithm: string;
  env: string;
  queue: "cpu" | "gpu";
  attempt: number;
  priority: number;
  tags: string[];
  notes: string;
  config: RunConfig;
  parent: { run_id: number; checkpoint_id: number | null; step: number | null } | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  archived_at: string | null;
  state_reason: string | null;
  failure: { message: string; traceback: string | null } | null;
  worker: string | null;
  step: number;
  frames: number;
  total_steps: number;
  steps_per_second: number | null;
  seconds_left: number | null;
  last_return: number | null;
  best_return: number | null;
  episodes: number;
  poster_file_id: number | null;
  versions: Record<string, string> | null;
  command: string[] | null;
  color: string;
}

export interface RunPage {
  items: Run[];
  next_cursor: string | null;
  total: number;
}

export interface LaunchRequest {
  name?: string;
  config?: RunConfig;
  preset?: string;
  overrides?: RunConfig;
  tags?: string[];
  notes?: string;
  priority?: number;
  queue?: "cpu" | "gpu";
}

export type BulkAction = "stop" | "pause" | "resume" | "archive" | "restore" | "purge";
export interface BulkResult {
  done: number[];
  skipped: { id: number; reason: string }[];
}

export interface MetricSeries {
  resolution: "raw" | "buckets";
  total: number;
  x: number[];
  mean: MetricValue[];
  min: MetricValue[];
  max: MetricValue[];
  last: MetricValue[];
  count: number[];
}
export interface Metrics {
  run_id: number;
  x: string;
  cursor: number | string | null;
  series: Record<string, MetricSeries>;
}

export interface LogLine {
  id: number;
  time: string;
  attempt: number;
  level: string;
  message: string;
}
export interface LogPage {
  items: LogLine[];
  next_after: number | null;
}

export interface Checkpoint {
  id: number;
  step: number;
  frames: number;
  attempt: number;
  file_id: number;
  bytes: number;
  return_mean: number | null;
  best: boolean;
  created_at: string;
  available: boolean;
}

export interface Video {
  id: number;
  step: number;
  frames: number;
  attempt: number;
  file_id: number;
  poster_file_id: number | null;
  episode_return: number;
  length: number;
  seconds: number;
  created_at: string;
}

export interface Preset {
  name: string;
  title: string;
  shows: string;
  source: string;
  config: RunConfig;
}

export interface Environment {
  id: string;
  title: string;
  kind: string;
  frames_per_step: number;
}

export interface Worker {
  name: string;
  host: string;
  queue: "cpu" | "gpu";
  state: "idle" | "busy" | "gone";
  run_id: number | null;
  last_seen_at: string;
  version: string;
  device: string;
  cores: number;
  memory_bytes: number;
  pid: number;
}

export interface Comparison {
  runs: Run[];
  differences: { field: string; title: string; values: Record<string, ConfigValue>; same: boolean }[];
  summary: {
    run_id: number;
    metrics: Record<string, { last: MetricValue; max: MetricValue; mean_last_100: MetricValue }>;
    episodes: number;
    wall_seconds: number | null;
  }[];
}

export interface Health {
  version: string;
  status: string;
  database: { ok: boolean; kind: string; detail: string | null };
  broker: { ok: boolean; detail: string | null };
  workers: number;
}

export interface Session {
  required: boolean;
  signed_in: boolean;
}

/** Plotly's figure as JSON; src/charts draws it. */
export interface Figure {
  data: Record<string, unknown>[];
  layout: Record<string, unknown>;
}
