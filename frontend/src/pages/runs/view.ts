import type { FailuresQuery, RunListQuery } from "@/api/runs";
import type { RunState } from "@/api/types";
import { isState } from "@/ui/states";

/** What the runs page shows. All of it is in the URL. */
export interface RunsView {
  state: RunState[];
  algorithm: string[];
  env: string[];
  tag: string[];
  text: string;
  archived: boolean;
  sort: string;
  /** Specs of the columns, if the URL has any. Otherwise the saved choice applies. */
  columns: string[] | null;
}

export type Facet = "state" | "algorithm" | "env" | "tag";
export const FACETS: readonly Facet[] = ["state", "algorithm", "env", "tag"];

export const NEWEST_FIRST = "-created_at";

export const DEFAULT_VIEW: RunsView = {
  state: [],
  algorithm: [],
  env: [],
  tag: [],
  text: "",
  archived: false,
  sort: NEWEST_FIRST,
  columns: null,
};

export function parseView(params: URLSearchParams): RunsView {
  const columns = params.get("columns");
  return {
    state: params.getAll("state").filter(isState),
    algorithm: params.getAll("algorithm"),
    env: params.getAll("env"),
    tag: params.getAll("tag"),
    text: params.get("text") ?? "",
    archived: params.get("archived") === "true",
    sort: params.get("sort") ?? NEWEST_FIRST,
    columns: columns === null ? null : columns.split(",").filter(Boolean),
  };
}

/** Return the URL parameters of a view, without defaults. */
export function toParams(view: RunsView): URLSearchParams {
  const params = new URLSearchParams();
  for (const facet of FACETS) for (const value of view[facet]) params.append(facet, value);
  if (view.text) params.set("text", view.text);
  if (view.archived) params.set("archived", "true");
  if (view.sort !== NEWEST_FIRST) params.set("sort", view.sort);
  if (view.columns) params.set("columns", view.columns.join(","));
  return params;
}

/** Return the query for the runs, with the metrics and the fields that the columns show. */
export function toListQuery(view: RunsView, metric: string[], include: string[]): RunListQuery {
  return { ...toFailuresQuery(view), sort: view.sort, metric, include };
}

/** Return the query for the failures of the listed runs. */
export function toFailuresQuery({ state, algorithm, env, tag, text, archived }: RunsView): FailuresQuery {
  return { state, algorithm, env, tag, text: text.trim(), archived };
}

/** Return True if "Clear all" would change the view. Sorting, columns and the archive are not filters. */
export function isFiltered(view: RunsView): boolean {
  return view.text.trim() !== "" || FACETS.some((facet) => view[facet].length > 0);
}

export function clearFilters(view: RunsView): RunsView {
  return { ...view, state: [], algorithm: [], env: [], tag: [], text: "" };
}

/** Return the sort order after a click on a header: descending, ascending, then newest first. */
export function nextSort(current: string, key: string): string {
  if (current === `-${key}`) return key;
  return current === key ? NEWEST_FIRST : `-${key}`;
}

export function toggleValue(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
}
