import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { address, call } from "./client";
import { joinNames } from "./nameList";
import { mergeFigure } from "./figureUpdates";
import { parseRunNumbers } from "./runNumbers";
import type { Figure, QueryOf } from "./types";

export type FigureLookQuery = Omit<QueryOf<"/api/v1/figures/curves">, "runs" | "metric" | "after">;

/** Figures along training. They return a range of x in finer buckets, and only new points after a cursor. */
export const TRAINING_FIGURES = [
  "figures/curves",
  "figures/together",
  "figures/percentiles",
  "figures/evaluations",
  "figures/calibrations",
];
/** Figures of one run that its recordings and evaluations change. */
const FIGURES_OF_FILES = ["figures/evaluations", "figures/calibrations", "figures/action-shares"];

/** Query keys of figures that live events refresh. The last part names the runs that a figure shows. */
export const figureKeys = {
  all: ["figure"] as const,
  metrics: (
    runs: readonly number[],
    metrics: readonly string[],
    options: FigureLookQuery & { shares: boolean },
  ) => [...figureKeys.all, metrics, { runs, ...options }] as const,
  evaluations: (run: number, query?: object) =>
    [...figureKeys.all, "evaluations", { runs: [run], ...query }] as const,
  calibrations: (runs: readonly number[], query: object) =>
    runs.length === 1
      ? figureKeys.evaluations(runs[0] ?? 0, { calibrations: true, ...query })
      : ([...figureKeys.all, "calibrations", { runs, ...query }] as const),
  at: (figure: string, runs: readonly number[]) =>
    FIGURES_OF_FILES.includes(partsOf(figure).path) && runs.length === 1
      ? figureKeys.evaluations(runs[0] ?? 0, { address: figure })
      : ([...figureKeys.all, "at", figure, { runs }] as const),
  report: (source: readonly unknown[], runs: readonly number[]) =>
    [...figureKeys.all, "report", ...source, { runs }] as const,
};

/** The address of a figure's JSON, for use outside the app, such as in a notebook. */
export interface FigureAddress extends Record<string, unknown> {
  figure: string;
}

export function figureAt(path: string, query: Record<string, unknown>): FigureAddress {
  return { figure: address(path, query) };
}

/** Split the address of a figure, which may be incomplete, into its path and query. */
export function partsOf(figure: string): { path: string; query: URLSearchParams } {
  const [location = "", query] = figure.split("?");
  return { path: location.replace(/^.*\/api\/v1\//, ""), query: new URLSearchParams(query) };
}

/** Return the address of the figure with this path and query. */
export const joinParts = (path: string, query: URLSearchParams) =>
  `/api/v1/${path}?${query.toString().replaceAll("%2C", ",").replaceAll("%2F", "/")}`;

/** Return the runs in the address of a figure. */
export const runsAt = (figure: string) => parseRunNumbers(partsOf(figure).query.get("runs") ?? "");

/** Return the address of the same figure with other runs. */
export function replaceRuns(figure: string, runs: readonly number[]): string {
  const { path, query } = partsOf(figure);
  query.set("runs", runs.join(","));
  return joinParts(path, query);
}

/** The figure at an address of the API, which shows these runs. */
export const figureAtQuery = (figure: string, runs: readonly number[]) =>
  queryOptions({
    queryKey: figureKeys.at(figure, runs),
    meta: { figure } satisfies FigureAddress,
    queryFn: async ({ signal, client, queryKey }): Promise<Figure> => {
      const cached = client.getQueryData<Figure>(queryKey);
      const { path, query } = partsOf(figure);
      if (cached?.cursor && TRAINING_FIGURES.includes(path)) query.set("after", cached.cursor);
      // All figures have the same response type, so any path works here.
      const update: Figure = await call("get", `/api/v1/${path}` as "/api/v1/figures/profile", {
        params: { query: Object.fromEntries(query) as { runs: string } },
        signal,
      });
      return mergeFigure(cached, update);
    },
    placeholderData: keepPreviousData,
  });

/** One metric of several runs, or several metrics of one run. A later fetch returns only new points. */
export const figureQuery = (
  runs: readonly number[],
  metrics: readonly string[],
  shares: boolean,
  query: FigureLookQuery,
) =>
  queryOptions({
    queryKey: figureKeys.metrics(runs, metrics, { shares, ...query }),
    meta: addressOf(runs, metrics, shares, query),
    queryFn: async ({ signal, client, queryKey }): Promise<Figure> => {
      const cached = client.getQueryData<Figure>(queryKey);
      const after = cached?.cursor;
      const update: Figure = await (metrics.length === 1
        ? call("get", "/api/v1/figures/curves", {
            params: { query: { ...curvesParams(runs, metrics, query), after } },
            signal,
          })
        : call("get", "/api/v1/figures/together", {
            params: { query: { ...togetherParams(runs, metrics, shares, query), after } },
            signal,
          }));
      return mergeFigure(cached, update);
    },
    placeholderData: keepPreviousData,
    enabled: runs.length > 0,
  });

const curvesParams = (runs: readonly number[], [metric = ""]: readonly string[], query: FigureLookQuery) => ({
  runs: runs.join(","),
  ...query,
  metric,
});

/** Figures of several metrics accept fewer options. */
const togetherParams = (
  runs: readonly number[],
  metrics: readonly string[],
  shares: boolean,
  { x, from, to, smoothing, buckets, x_log, y_log, clip }: FigureLookQuery,
) => ({
  runs: runs.join(","),
  x,
  from,
  to,
  smoothing,
  buckets,
  x_log,
  y_log,
  clip,
  metrics: joinNames(metrics),
  shares,
});

function addressOf(
  runs: readonly number[],
  metrics: readonly string[],
  shares: boolean,
  query: FigureLookQuery,
): FigureAddress {
  if (metrics.length === 1) return figureAt("/figures/curves", curvesParams(runs, metrics, query));
  return figureAt("/figures/together", togetherParams(runs, metrics, shares, query));
}
