import { Badge } from "@mantine/core";
import type { ReactNode } from "react";
import type { ConfigValue, ListedRun } from "@/api/types";
import { type Catalog, metricTitle, metricUnit } from "@/charts/metrics";
import { shown } from "@/config-form/draft";
import { shortEnv } from "@/ui/format";
import { hint } from "@/ui/Hint";
import { Rate, Score, Short, TimeAgo } from "@/ui/Quantity";
import { RunProgress } from "@/ui/RunProgress";
import { bestReturnMeaning, isReported, lastReturnMeaning, originName } from "@/ui/states";
import { CONFIG_PREFIX, DIFFERING } from "./automaticColumns";
import { hasColumn, parseSpec } from "./columnSpecs";
import { type ComputedColumn, computedInColumns, computedName, parseComputed } from "./computedColumns";
import { RunCell } from "./RunCell";
import { SparklineCell } from "./SparklineCell";
import { StateCell } from "./StateCell";
import classes from "./runs.module.css";

export interface RunColumn {
  id: string;
  title: string;
  /** Sort key of the API. Absent if the column cannot be sorted. */
  sort?: string;
  number?: boolean;
  /** In pixels. The run column is at least this wide and takes the remaining space. */
  width: number;
  /** Stays visible while the others scroll. */
  pinned?: boolean;
  cell: (run: ListedRun) => ReactNode;
}

const plainText = (text: string | null) => <span className={classes.clip}>{text || "–"}</span>;

const RUN_COLUMNS: readonly RunColumn[] = [
  { id: "name", title: "Run", sort: "name", width: 232, cell: (run) => <RunCell run={run} /> },
  { id: "state", title: "State", sort: "state", width: 148, cell: (run) => <StateCell run={run} /> },
  {
    id: "algorithm",
    title: "Method",
    sort: "algorithm",
    width: 104,
    cell: (run) => (
      <span className={classes.clip} title={run.method}>
        {run.method || "–"}
      </span>
    ),
  },
  { id: "env", title: "Environment", sort: "env", width: 124, cell: (run) => plainText(shortEnv(run.env)) },
  { id: "tags", title: "Tags", width: 124, cell: (run) => <Tags tags={run.tags} /> },
  { id: "notes", title: "Notes", width: 196, cell: (run) => <Notes notes={run.notes ?? ""} /> },
  timeColumn("created_at", "Age", 88),
  timeColumn("started_at", "Started"),
  timeColumn("finished_at", "Ended"),
  { id: "project", title: "Project", sort: "project", width: 128, cell: (run) => plainText(run.project) },
  {
    id: "origin",
    title: "Origin",
    sort: "origin",
    width: 112,
    cell: (run) => plainText(isReported(run) ? originName(run) : "Arcadia"),
  },
  {
    id: "queue",
    title: "Queue",
    sort: "queue",
    width: 80,
    cell: (run) => plainText(run.queue?.toUpperCase() ?? null),
  },
  { id: "worker", title: "Worker", sort: "worker", width: 128, cell: (run) => plainText(run.worker) },
  countColumn("attempt", "Attempt"),
  countColumn("priority", "Priority"),
];

/** Room for the title with the arrow of the order. */
const RETURN_WIDTH = 108;

const PROGRESS_COLUMNS: readonly RunColumn[] = [
  { id: "progress", title: "Progress", sort: "step", width: 144, cell: (run) => <RunProgress run={run} /> },
  { id: "curve", title: "Curve", width: 96, cell: (run) => <SparklineCell run={run} /> },
  {
    id: "last_return",
    title: "Last return",
    sort: "last_return",
    number: true,
    width: RETURN_WIDTH,
    cell: (run) => <Score value={run.last_return} meaning={lastReturnMeaning(run)} />,
  },
  {
    id: "best_return",
    title: "Best return",
    sort: "best_return",
    number: true,
    width: RETURN_WIDTH,
    cell: (run) => <Score value={run.best_return} meaning={bestReturnMeaning(run)} />,
  },
  {
    id: "steps_per_second",
    title: "Steps/s",
    sort: "steps_per_second",
    number: true,
    width: 72,
    cell: (run) => <Rate value={run.steps_per_second} />,
  },
  countColumn("step", "Steps"),
  countColumn("frames", "Frames"),
  countColumn("episodes", "Episodes"),
];

/** Columns with fields of the run itself, by section of the column menu. */
export const COLUMN_SECTIONS = [
  { title: "Run", columns: RUN_COLUMNS },
  { title: "Progress", columns: PROGRESS_COLUMNS },
] as const;

/** Id of the column that names the run. It is always shown first. */
export const RUN_COLUMN = "name";

/** Returns come before method and environment, which most names contain, so that they are visible beside charts. */
export const DEFAULT_COLUMNS: string[] = [
  ...[RUN_COLUMN, "state", "progress", "curve", "last_return", "best_return", "algorithm", "env"],
  ...[DIFFERING, "steps_per_second", "tags", "created_at"],
];

function timeColumn(id: "created_at" | "started_at" | "finished_at", title: string, width = 104): RunColumn {
  return { id, title, sort: id, number: true, width, cell: (run) => <TimeAgo time={run[id]} /> };
}

function countColumn(id: "step" | "frames" | "episodes" | "attempt" | "priority", title: string): RunColumn {
  return { id, title, sort: id, number: true, width: 96, cell: (run) => <Short value={run[id]} /> };
}

/** Titles of settings by field. A field of a script has none. */
export type SettingTitles = ReadonlyMap<string, string>;

function configColumn(titles: SettingTitles, field: string): RunColumn {
  const value = (run: ListedRun): ConfigValue | undefined => run.config?.[field];
  return {
    id: CONFIG_PREFIX + field,
    title: titles.get(field) ?? field,
    sort: /[,()]/.test(field) ? `config("${field}")` : `config:${field}`,
    number: true,
    width: 104,
    cell: (run) => plainText(settingText(value(run))),
  };
}

/** Return the formatted value, or null if the run has no such setting. */
function settingText(value: ConfigValue | undefined): string | null {
  return value === undefined ? null : shown(value);
}

/** Return the fields of the settings in these columns. */
export const settingsInColumns = (columns: readonly string[]) =>
  columns
    .map((text) => parseSpec(text).id)
    .filter((id) => id.startsWith(CONFIG_PREFIX))
    .map((id) => id.slice(CONFIG_PREFIX.length));

/** The list includes at most this many single settings. */
const MAX_SETTINGS = 50;

/** Return the fields that the list must include for these columns: single settings, or all if there are too many. */
export function includedInColumns(columns: readonly string[]): string[] {
  const settings = [...new Set(settingsInColumns(columns))].map((field) => CONFIG_PREFIX + field);
  const notes = hasColumn(columns, "notes") ? ["notes"] : [];
  return [...(settings.length > MAX_SETTINGS ? ["config"] : settings), ...notes];
}

/** Statistics of a metric that a column can show. */
export const STATISTICS = ["last", "max", "min"] as const;
export type Statistic = (typeof STATISTICS)[number];

const METRIC_ID = /^metric\.(.+)\.(last|max|min)$/;

/** Return the metric and the statistic of a column, or null if it shows no metric. */
export function parseMetricId(id: string): { metric: string; statistic: Statistic } | null {
  const [, metric, word] = METRIC_ID.exec(id) ?? [];
  const statistic = STATISTICS.find((name) => name === word);
  return metric && statistic ? { metric, statistic } : null;
}

/** Return the sort key of a metric. A comma would end it, so such a name is in quotes. */
function metricSort(metric: string, statistic: Statistic): string {
  return /[,()]/.test(metric) ? `${statistic}("${metric}")` : `metric:${metric}:${statistic}`;
}

export const metricColumnId = (metric: string, statistic: Statistic) => `metric.${metric}.${statistic}`;

function metricColumn(catalog: Catalog, id: string, metric: string, statistic: Statistic): RunColumn {
  const title = `${metricTitle(catalog, metric)}, ${statistic}`;
  return {
    id,
    title,
    sort: metricSort(metric, statistic),
    number: true,
    width: 128,
    cell: (run) => (
      <Score
        value={run.metrics?.[metric]?.[statistic] ?? null}
        meaning={title}
        unit={metricUnit(catalog, metric)}
      />
    ),
  };
}

/** Return the metrics that these columns show. */
export function metricsInColumns(columns: readonly string[]): string[] {
  const names = columns.flatMap((text) => METRIC_ID.exec(parseSpec(text).id)?.[1] ?? []);
  return [...new Set(names)];
}

function computedColumn(id: string, { title, expression }: ComputedColumn): RunColumn {
  const name = computedName(expression);
  return {
    id,
    title: title || expression,
    // The server takes a colon for a metric or a setting.
    ...(!expression.includes(":") && { sort: `(${expression})` }),
    number: true,
    width: 120,
    cell: (run) => <Score value={run.computed?.[name] ?? null} meaning={expression} />,
  };
}

/** Return the values that the list must include for these columns. */
export function valuesOfColumns(columns: readonly string[]) {
  return {
    metric: metricsInColumns(columns),
    include: includedInColumns(columns),
    compute: computedInColumns(columns),
  };
}

function findColumn(catalog: Catalog, titles: SettingTitles, id: string): RunColumn | undefined {
  const found = parseMetricId(id);
  if (found) return metricColumn(catalog, id, found.metric, found.statistic);
  const computed = parseComputed(id);
  if (computed) return computedColumn(id, computed);
  if (id.startsWith(CONFIG_PREFIX)) return configColumn(titles, id.slice(CONFIG_PREFIX.length));
  return COLUMN_SECTIONS.flatMap(({ columns }) => columns).find((column) => column.id === id);
}

/** Return the columns for these specs: the run column, then pinned columns, then the others. */
export function resolveColumns(
  catalog: Catalog,
  titles: SettingTitles,
  columns: readonly string[],
): RunColumn[] {
  const specs = hasColumn(columns, RUN_COLUMN) ? columns : [RUN_COLUMN, ...columns];
  const found = specs.map(parseSpec).flatMap(({ id, width, pinned }) => {
    const column = findColumn(catalog, titles, id);
    return column ? [{ ...column, width: width ?? column.width, pinned: pinned || id === RUN_COLUMN }] : [];
  });
  const rank = ({ id, pinned }: RunColumn) => (id === RUN_COLUMN ? 0 : pinned ? 1 : 2);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** The first tag in full and the number of others. The tooltip lists all. */
function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <div className={classes.tags} {...hint(tags.join(", "))}>
      {tags.slice(0, 1).map((tag) => (
        <Badge key={tag} variant="default" size="sm" tt="none" fw={400}>
          {tag}
        </Badge>
      ))}
      {tags.length > 1 && <span className={classes.dim}>+{tags.length - 1}</span>}
    </div>
  );
}

/** The first line of the notes. The tooltip shows all. */
function Notes({ notes }: { notes: string }) {
  return (
    <span className={classes.clip} title={notes}>
      {notes.trim().split("\n", 1)[0] || "–"}
    </span>
  );
}
