import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { address, call } from "./client";
import { joinNames } from "./nameList";
import { parseRunNumbers } from "./runNumbers";
import { FIGURE_SECONDS, live, ofJobs, ofRuns } from "./topics";
import type { Figure, FigureKind, QueryOf } from "./types";

export type FigureLookQuery = Omit<QueryOf<"/api/v1/figures/curves">, "runs" | "metric" | "after">;

/** Query keys of figures. */
export const figureKeys = {
  all: ["figure"] as const,
  kinds: ["figure-kinds"] as const,
  at: (figure: string, runs: readonly number[]) => [...figureKeys.all, "at", figure, { runs }] as const,
  report: (source: readonly unknown[], runs: readonly number[]) =>
    [...figureKeys.all, "report", ...source, { runs }] as const,
};

/** The kinds of figures that the server draws, with their traits. */
export const figureKindsQuery = queryOptions({
  queryKey: figureKeys.kinds,
  queryFn: ({ signal }) => call("get", "/api/v1/figures", { signal }) as Promise<FigureKind[]>,
  staleTime: Infinity,
});

/** Return the kind of the figure at an address, or undefined for a figure of a study, a paper or a game. */
export function kindAt(kinds: readonly FigureKind[], figure: string): FigureKind | undefined {
  const { path } = partsOf(figure);
  return kinds.find(({ name }) => path === `figures/${name}`);
}

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

/** Return true if the figure at an address shows runs, but the address names none yet. */
export function lacksRuns(figure: string): boolean {
  const { path, query } = partsOf(figure);
  const showsOther = query.has("evaluation") || query.has("calibration");
  return path.startsWith("figures/") && !showsOther && runsAt(figure).length === 0;
}

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
    ...followFigure(figure, runs),
    queryFn: ({ signal }): Promise<Figure> => {
      const { path, query } = partsOf(figure);
      // All figures have the same response type, so any path works here.
      return call("get", `/api/v1/${path}` as "/api/v1/figures/profile", {
        params: { query: Object.fromEntries(query) as { runs: string } },
        signal,
      });
    },
    placeholderData: keepPreviousData,
  });

/** Options of a query that shows the figure at an address. */
export function followFigure(figure: string, runs: readonly number[]) {
  const topics = ofRuns(runs, "run.changed", "run.metrics", "run.removed");
  const topicsWithFiles = [
    ...topics,
    ...ofRuns(runs, "run.files"),
    ...ofJobs("evaluation"),
    ...ofJobs("calibration"),
  ];
  const topicsOf = (client: QueryClient) => {
    const kinds = client.getQueryData(figureKindsQuery.queryKey) ?? [];
    return kindAt(kinds, figure)?.follows_files ? topicsWithFiles : topics;
  };
  return live(topicsOf, FIGURE_SECONDS, { figure } satisfies FigureAddress);
}

/** One metric of several runs, or several metrics of one run. */
export const figureQuery = (
  runs: readonly number[],
  metrics: readonly string[],
  shares: boolean,
  look: FigureLookQuery,
) => ({
  ...figureAtQuery(metricsAddress(runs.join(","), metrics, shares, look), runs),
  enabled: runs.length > 0,
});

function metricsAddress(
  runs: string,
  metrics: readonly string[],
  shares: boolean,
  look: FigureLookQuery,
): string {
  const [metric, ...others] = metrics;
  if (others.length === 0) return address("/figures/curves", { runs, ...look, metric });
  // Figures of several metrics accept fewer options.
  const { x, from, to, smoothing, buckets, x_log, y_log, clip } = look;
  const options = { x, from, to, smoothing, buckets, x_log, y_log, clip };
  return address("/figures/together", { runs, ...options, metrics: joinNames(metrics), shares });
}
