import { Badge, Group } from "@mantine/core";
import type { ReactNode } from "react";
import type { ConfigValue, Run } from "@/api/types";
import { Rate, Score, Short, TimeAgo } from "@/ui/Quantity";
import { RunProgress } from "@/ui/RunProgress";
import { RunName } from "./RunName";
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
  cell: (run: Run) => ReactNode;
}

const plain = (text: string | null) => <span className={classes.clip}>{text ?? "–"}</span>;

/** The game without the collection that it is part of. */
export const shortEnv = (env: string) => env.replace(/^(ALE|Arcadia)\//, "");

export const COLUMNS: readonly RunColumn[] = [
  { id: "name", title: "Run", sort: "name", width: 196, cell: (run) => <RunName run={run} /> },
  { id: "state", title: "State", sort: "state", width: 148, cell: (run) => <StateCell run={run} /> },
  {
    id: "algorithm",
    title: "Method",
    sort: "algorithm",
    width: 112,
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
  { id: "tags", title: "Tags", width: 104, cell: (run) => <Tags tags={run.tags} /> },
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

export const DEFAULT_COLUMNS: string[] = COLUMNS.slice(0, 10).map(({ id }) => id);

const CONFIG = "config.";
/** Columns of their own show these already. */
const SHOWN_ELSEWHERE = new Set(["algorithm", "env"]);

function count(id: "step" | "frames" | "episodes" | "attempt" | "priority", title: string): RunColumn {
  return { id, title, sort: id, number: true, width: 96, cell: (run) => <Short value={run[id]} /> };
}

function configColumn(field: string): RunColumn {
  const value = (run: Run): ConfigValue | undefined => run.config[field] as ConfigValue | undefined;
  return {
    id: CONFIG + field,
    title: field,
    number: true,
    width: 136,
    cell: (run) => plain(shown(value(run))),
  };
}

function shown(value: ConfigValue | undefined): string {
  if (value === undefined || value === null) return "–";
  return typeof value === "object" ? value.join(", ") : String(value);
}

/** One column for every hyper-parameter that one of these runs has, by name. */
export function configColumns(runs: readonly Run[]): RunColumn[] {
  const fields = new Set(runs.flatMap((run) => Object.keys(run.config)));
  return [...fields]
    .filter((field) => !SHOWN_ELSEWHERE.has(field))
    .sort()
    .map(configColumn);
}

/** The columns that are to be shown, in their fixed order; a hyper-parameter's even if no run has it now. */
export function chosenColumns(ids: readonly string[]): RunColumn[] {
  const own = COLUMNS.filter(({ id }) => id === "name" || ids.includes(id));
  const config = ids.filter((id) => id.startsWith(CONFIG)).map((id) => configColumn(id.slice(CONFIG.length)));
  return [...own, ...config];
}

function Tags({ tags }: { tags: readonly string[] }) {
  return (
    <Group gap={4} wrap="nowrap" className={classes.tags}>
      {tags.map((tag) => (
        <Badge key={tag} variant="default" size="sm" tt="none" fw={400}>
          {tag}
        </Badge>
      ))}
    </Group>
  );
}
