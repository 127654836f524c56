import { Badge, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import type { ConfigValue, Run } from "@/api/types";
import { type Catalogue, metricTitle, metricUnit } from "@/charts/metrics";
import { shown } from "@/config-form/draft";
import { Rate, Score, Short, TimeAgo } from "@/ui/Quantity";
import { RunProgress } from "@/ui/RunProgress";
import { hasColumn, readSpec } from "./columnSpecs";
import { RunCell } from "./RunCell";
import { StateCell } from "./StateCell";
import classes from "./runs.module.css";

export interface RunColumn {
  id: string;
  title: string;
  /** What the server sorts by; absent where it cannot. */
  sort?: string;
  number?: boolean;
  /** In pixels; the run's own column is at least this wide and takes what is left. */
  width: number;
  /** Stays in sight while the others scroll. */
  pinned?: boolean;
  cell: (run: Run) => ReactNode;
}

const plain = (text: string | null) => <span className={classes.clip}>{text ?? "–"}</span>;

/** The game without the collection that it is part of. */
export const shortEnv = (env: string) => env.replace(/^(ALE|Arcadia)\//, "");

export const COLUMNS: readonly RunColumn[] = [
  { id: "name", title: "Run", sort: "name", width: 196, cell: (run) => <RunCell run={run} /> },
  { id: "state", title: "State", sort: "state", width: 148, cell: (run) => <StateCell run={run} /> },
  {
    id: "algorithm",
    title: "Method",
    sort: "algorithm",
    width: 104,
    cell: (run) => (
      <span className={classes.clip} title={run.method}>
        {run.method}
      </span>
    ),
  },
  { id: "env", title: "Environment", sort: "env", width: 124, cell: (run) => plain(shortEnv(run.env)) },
  { id: "progress", title: "Progress", sort: "step", width: 144, cell: (run) => <RunProgress run={run} /> },
  {
    id: "steps_per_second",
    title: "Steps/s",
    sort: "steps_per_second",
    number: true,
    width: 72,
    cell: (run) => <Rate value={run.steps_per_second} />,
  },
  {
    id: "last_return",
    title: "Last return",
    sort: "last_return",
    number: true,
    width: 92,
    cell: (run) => <Score value={run.last_return} meaning="Mean of the last 100 episodes" />,
  },
  {
    id: "best_return",
    title: "Best return",
    sort: "best_return",
    number: true,
    width: 92,
    cell: (run) => <Score value={run.best_return} meaning="Best mean of 100 episodes" />,
  },
  { id: "tags", title: "Tags", width: 124, cell: (run) => <Tags tags={run.tags} /> },
  {
    id: "created_at",
    title: "Age",
    sort: "created_at",
    number: true,
    width: 88,
    cell: (run) => <TimeAgo time={run.created_at} />,
  },
  count("step", "Steps"),
  count("frames", "Frames"),
  count("episodes", "Episodes"),
  count("attempt", "Attempt"),
  count("priority", "Priority"),
  { id: "queue", title: "Queue", sort: "queue", width: 80, cell: (run) => run.queue.toUpperCase() },
  { id: "worker", title: "Worker", sort: "worker", width: 128, cell: (run) => plain(run.worker) },
  {
    id: "started_at",
    title: "Started",
    sort: "started_at",
    number: true,
    width: 104,
    cell: (run) => <TimeAgo time={run.started_at} />,
  },
  {
    id: "finished_at",
    title: "Ended",
    sort: "finished_at",
    number: true,
    width: 104,
    cell: (run) => <TimeAgo time={run.finished_at} />,
  },
];

/** The column that names the run: always there, always first. */
export const OWN = "name";

export const DEFAULT_COLUMNS: string[] = COLUMNS.slice(0, 10).map(({ id }) => id);

const CONFIG = "config.";
/** Other columns show these settings already. */
const SHOWN_ELSEWHERE = new Set(["algorithm", "env"]);

function count(id: "step" | "frames" | "episodes" | "attempt" | "priority", title: string): RunColumn {
  return { id, title, sort: id, number: true, width: 96, cell: (run) => <Short value={run[id]} /> };
}

function configColumn(field: string): RunColumn {
  const value = (run: Run): ConfigValue | undefined => run.config[field];
  return {
    id: CONFIG + field,
    title: field,
    sort: `config:${field}`,
    number: true,
    width: 136,
    cell: (run) => plain(settingText(value(run))),
  };
}

/** Null where the run's method has no such setting. */
function settingText(value: ConfigValue | undefined): string | null {
  return value === undefined ? null : shown(value);
}

/** One column for every hyper-parameter that one of these runs has, by name. */
export function configColumns(runs: readonly Run[]): RunColumn[] {
  const fields = new Set(runs.flatMap((run) => Object.keys(run.config)));
  return [...fields]
    .filter((field) => !SHOWN_ELSEWHERE.has(field))
    .sort()
    .map(configColumn);
}

/** The values of a metric that a column can show. */
export const STATISTICS = ["last", "max", "min"] as const;
export type Statistic = (typeof STATISTICS)[number];

const METRIC = /^metric\.(.+)\.(last|max|min)$/;

export const metricColumnId = (metric: string, statistic: Statistic) => `metric.${metric}.${statistic}`;

function metricColumn(catalogue: Catalogue, id: string, metric: string, statistic: Statistic): RunColumn {
  const title = `${metricTitle(catalogue, metric)}, ${statistic}`;
  return {
    id,
    title,
    sort: `metric:${metric}:${statistic}`,
    number: true,
    width: 128,
    cell: (run) => (
      <Score
        value={run.metrics[metric]?.[statistic] ?? null}
        meaning={title}
        unit={metricUnit(catalogue, metric)}
      />
    ),
  };
}

/** The metrics that these columns show. */
export function metricsOf(columns: readonly string[]): string[] {
  const named = columns.flatMap((text) => METRIC.exec(readSpec(text).id)?.[1] ?? []);
  return [...new Set(named)];
}

function columnOf(catalogue: Catalogue, id: string): RunColumn | undefined {
  const [, metric, word] = METRIC.exec(id) ?? [];
  const statistic = STATISTICS.find((one) => one === word);
  if (metric && statistic) return metricColumn(catalogue, id, metric, statistic);
  if (id.startsWith(CONFIG)) return configColumn(id.slice(CONFIG.length));
  return COLUMNS.find((column) => column.id === id);
}

/** The columns to show, in the user's widths: the run's name, then the pinned ones, then the others. */
export function chosenColumns(catalogue: Catalogue, columns: readonly string[]): RunColumn[] {
  const specs = hasColumn(columns, OWN) ? columns : [OWN, ...columns];
  const found = specs.map(readSpec).flatMap(({ id, width, pinned }) => {
    const column = columnOf(catalogue, id);
    return column ? [{ ...column, width: width ?? column.width, pinned: pinned || id === OWN }] : [];
  });
  const rank = ({ id, pinned }: RunColumn) => (id === OWN ? 0 : pinned ? 1 : 2);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** The first tag in full; the others are in the tooltip, since several would be cut to a letter or two each. */
function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <Tooltip label={tags.join(", ")} disabled={tags.length === 0}>
      <div className={classes.tags}>
        {tags.slice(0, 1).map((tag) => (
          <Badge key={tag} variant="default" size="sm" tt="none" fw={400}>
            {tag}
          </Badge>
        ))}
        {tags.length > 1 && <span className={classes.dim}>+{tags.length - 1}</span>}
      </div>
    </Tooltip>
  );
}
