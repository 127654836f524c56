import type { FailuresQuery, RunListQuery } from "@/api/runs";
import type { RunState } from "@/api/types";
import { isState } from "@/ui/states";

/** What the runs page shows; all of it stands in the address. */
export interface RunsView {
  state: RunState[];
  algorithm: string[];
  env: string[];
  tag: string[];
  text: string;
  archived: boolean;
  sort: string;
  /** Ids of the columns shown, if they differ from the user's own choice. */
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

export function viewOf(params: URLSearchParams): RunsView {
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

/** The address of a view, without what is as by default. */
export function paramsOf(view: RunsView): URLSearchParams {
  const params = new URLSearchParams();
  for (const facet of FACETS) for (const value of view[facet]) params.append(facet, value);
  if (view.text) params.set("text", view.text);
  if (view.archived) params.set("archived", "true");
  if (view.sort !== NEWEST_FIRST) params.set("sort", view.sort);
  if (view.columns) params.set("columns", view.columns.join(","));
  return params;
}

/** What the server is asked for: the runs, and what the columns tell of their metrics. */
export function queryOf(view: RunsView, metric: string[]): RunListQuery {
  return { ...failuresOf(view), sort: view.sort, metric };
}

/** Which runs are asked for, and so whose failures. */
export function failuresOf({ state, algorithm, env, tag, text, archived }: RunsView): FailuresQuery {
  return { state, algorithm, env, tag, text: text.trim(), archived };
}

/** Filters are what "Clear all" clears; sorting, columns and the archive stay. */
export function isFiltered(view: RunsView): boolean {
  return view.text.trim() !== "" || FACETS.some((facet) => view[facet].length > 0);
}

export function withoutFilters(view: RunsView): RunsView {
  return { ...view, state: [], algorithm: [], env: [], tag: [], text: "" };
}

/** A click on a header: descending, then ascending, then newest runs first again. */
export function nextSort(current: string, key: string): string {
  if (current === `-${key}`) return key;
  return current === key ? NEWEST_FIRST : `-${key}`;
}

export function toggled(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
}
