import type { components } from "./schema";

// The API's shapes, generated from its own description, under the names that the pages use. Three things the
// description cannot say are narrowed here: a configuration is flat but for lists of numbers, and NaN and the infinities
// travel as words.

type Schema = components["schemas"];
type With<T, Narrower> = Omit<T, keyof Narrower> & Narrower;

export type ConfigValue = string | number | boolean | null | readonly number[];
export type RunConfig = Record<string, ConfigValue>;
/** JSON has no NaN or infinity: they travel as these words. */
export type MetricValue = number | "NaN" | "Infinity" | "-Infinity";

export type Run = With<Schema["Run"], { config: RunConfig }>;
export type RolePlace = Schema["RolePlace"];
export type RunState = Run["state"];
export type RunPage = With<Schema["RunPage"], { items: Run[] }>;
export type LaunchRequest = Schema["CreateRun"];
export type RunEdit = Schema["EditRun"];
export type BulkRequest = Schema["BulkRequest"];
export type BulkAction = BulkRequest["action"];
export type BulkResult = Schema["BulkResult"];

type Values = Record<"mean" | "min" | "max" | "last", MetricValue[]>;
export type MetricSeries = With<Schema["SeriesPoints"], Values>;
export type Metrics = With<Schema["RunMetrics"], { series: Record<string, MetricSeries> }>;

export type LogLine = Schema["LogEntry"];
export type LogPage = Schema["LogPage"];
export type Checkpoint = Schema["backend__files__schemas__Checkpoint"];
export type Video = Schema["backend__files__schemas__Video"];

export type Preset = With<Schema["Preset"], { config: RunConfig }>;
export type Environment = Schema["Environment"];
export type Worker = Schema["Worker"];
export type Health = Schema["Health"];
export type Session = Schema["Session"];
export type Figure = Schema["Figure"];

type Difference = With<Schema["Difference"], { values: Record<string, ConfigValue> }>;
type MetricSummary = { [Statistic in keyof Schema["MetricSummary"]]: MetricValue | null };
type RunSummary = With<Schema["RunSummary"], { metrics: Record<string, MetricSummary> }>;
export type Comparison = With<
  Schema["Comparison"],
  { runs: Run[]; differences: Difference[]; summary: RunSummary[] }
>;
