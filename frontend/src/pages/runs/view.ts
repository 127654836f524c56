import { byProject } from "@/api/projectFilter";
import type { FailuresQuery, RunListQuery } from "@/api/runs";
import type { Run, RunState } from "@/api/types";
import { joinNames, splitNames } from "@/api/nameList";
import { isOrigin, isState } from "@/ui/states";
import { NEWEST_FIRST } from "./sorting";

type RunOrigin = Run["origin"];

/** View of the runs page. It is stored in the URL. */
export interface RunsView {
  state: RunState[];
  algorithm: string[];
  env: string[];
  tag: string[];
  origin: RunOrigin[];
  text: string;
  /** Expression, such as "learning_rate < 1e-3 and return > 15". */
  filter: string;
  archived: boolean;
  /** Fields that the runs are grouped by, outermost first. */
  by: string[];
  /** Order of the groups, such as "-return.mean". */
  groupSort: string;
  sort: string;
  /** Specs of the columns, if the URL has any. Otherwise the saved choice applies. */
  columns: string[] | null;
  /** Metrics of the charts beside the table. If empty, the charts are closed. Without it, the saved choice applies. */
  charts: string[] | null;
  /** Environment that the charts show: one, all in one chart, or, if empty, each in its own chart. */
  chartEnv: string;
  /** Run that the numbers of the others are compared with. */
  baseline: number | null;
  /** Runs that stay on top and in the charts. */
  pinned: number[];
  /** Runs without curves. */
  hidden: number[];
  /** Runs with curves although they are not among the first. */
  shown: number[];
}

export type Facet = "state" | "algorithm" | "env" | "tag" | "origin";
export const FACETS: readonly Facet[] = ["state", "algorithm", "env", "tag", "origin"];

const NEWEST_GROUPS_FIRST = "-newest";

export const DEFAULT_VIEW: RunsView = {
  state: [],
  algorithm: [],
  env: [],
  tag: [],
  origin: [],
  text: "",
  filter: "",
  archived: false,
  by: [],
  groupSort: NEWEST_GROUPS_FIRST,
  sort: NEWEST_FIRST,
  columns: null,
  charts: null,
  chartEnv: "",
  baseline: null,
  pinned: [],
  hidden: [],
  shown: [],
};

const RUN_IDS = ["pinned", "hidden", "shown"] as const;

/** Parameters of the page that are not part of the view. */
const KEPT_PARAMS = ["project", "view", "zoom", "x", "smoothing", "x_log", "y_log", "clip", "ancestry"];

export function parseView(params: URLSearchParams): RunsView {
  const columns = params.get("columns");
  const charts = params.get("charts");
  return {
    state: params.getAll("state").filter(isState),
    algorithm: params.getAll("algorithm"),
    env: params.getAll("env"),
    tag: params.getAll("tag"),
    origin: params.getAll("origin").filter(isOrigin),
    text: params.get("text") ?? "",
    filter: params.get("filter") ?? "",
    archived: params.get("archived") === "true",
    by: splitNames(params.get("by") ?? ""),
    groupSort: params.get("group_sort") ?? NEWEST_GROUPS_FIRST,
    sort: params.get("sort") ?? NEWEST_FIRST,
    columns: columns === null ? null : splitNames(columns),
    charts: charts === null ? null : splitNames(charts),
    chartEnv: params.get("chart_env") ?? "",
    baseline: readRunIds(params, "baseline")[0] ?? null,
    pinned: readRunIds(params, "pinned"),
    hidden: readRunIds(params, "hidden"),
    shown: readRunIds(params, "shown"),
  };
}

/** Return the URL parameters of a view, without defaults. */
export function toParams(view: RunsView): URLSearchParams {
  const params = new URLSearchParams();
  for (const facet of FACETS) for (const value of view[facet]) params.append(facet, value);
  if (view.text) params.set("text", view.text);
  if (view.filter) params.set("filter", view.filter);
  if (view.archived) params.set("archived", "true");
  if (view.by.length > 0) params.set("by", joinNames(view.by));
  if (view.groupSort !== NEWEST_GROUPS_FIRST) params.set("group_sort", view.groupSort);
  if (view.sort !== NEWEST_FIRST) params.set("sort", view.sort);
  if (view.columns) params.set("columns", joinNames(view.columns));
  if (view.charts) params.set("charts", joinNames(view.charts));
  if (view.chartEnv) params.set("chart_env", view.chartEnv);
  if (view.baseline !== null) params.set("baseline", String(view.baseline));
  for (const name of RUN_IDS) if (view[name].length > 0) params.set(name, view[name].join());
  return params;
}

/** Return the page's URL parameters with another view. */
export function replaceView(params: URLSearchParams, view: RunsView): URLSearchParams {
  const next = toParams(view);
  for (const [name, value] of params) if (KEPT_PARAMS.includes(name)) next.append(name, value);
  return next;
}

/** Return the runs that stay on top of the list, the baseline first. */
export function runsOnTop({ baseline, pinned }: RunsView): number[] {
  return baseline === null ? pinned : [baseline, ...pinned.filter((id) => id !== baseline)];
}

/** Return the run numbers in "pinned=12,15". */
function readRunIds(params: URLSearchParams, name: string): number[] {
  const numbers = (params.get(name) ?? "").split(",").map(Number);
  return [...new Set(numbers.filter((number) => Number.isSafeInteger(number) && number > 0))];
}

/** Values that the list includes for its columns. */
type ColumnQuery = Pick<RunListQuery, "metric" | "include" | "compute">;
export const NO_VALUES = { metric: [], include: [], compute: [] } satisfies ColumnQuery;

/** Return the query for the runs, with the values that the columns show. */
export function toListQuery(view: RunsView, project: string | null, columns: ColumnQuery): RunListQuery {
  return { ...toFailuresQuery(view, project), sort: view.sort, ...columns };
}

/** Return the query for the failures of the listed runs. */
export function toFailuresQuery(view: RunsView, project: string | null): FailuresQuery {
  const { state, algorithm, env, tag, origin, text, filter, archived } = view;
  return { state, algorithm, env, tag, origin, text: text.trim(), filter, archived, ...byProject(project) };
}

/** Return true if "Clear all" would change the view. Sorting, columns and the archive are not filters. */
export function isFiltered(view: RunsView): boolean {
  return view.text.trim() !== "" || view.filter !== "" || FACETS.some((facet) => view[facet].length > 0);
}

export function clearFilters(view: RunsView): RunsView {
  return { ...view, state: [], algorithm: [], env: [], tag: [], origin: [], text: "", filter: "" };
}

export function toggleValue(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
}
