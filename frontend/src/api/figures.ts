import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { address, call } from "./client";
import { joinNames } from "./nameList";
import { parseRunNumbers } from "./runNumbers";
import type { Figure, FigureKind, QueryOf } from "./types";

export type FigureLookQuery = Omit<QueryOf<"/api/v1/figures/curves">, "runs" | "metric" | "after">;

/** Query keys of figures that live events refresh. The last part names the runs that a figure shows. */
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

/** The figure at an address of the API, which shows these runs. A later fetch may return only new points. */
export const figureAtQuery = (figure: string, runs: readonly number[]) =>
  queryOptions({
    queryKey: figureKeys.at(figure, runs),
    meta: { figure } satisfies FigureAddress,
    queryFn: async ({ signal, client, queryKey }): Promise<Figure> => {
      const cached = client.getQueryData<Figure>(queryKey);
      const { path, query } = partsOf(figure);
      if (cached?.cursor && kindAt(await client.ensureQueryData(figureKindsQuery), figure)?.streams)
        query.set("after", cached.cursor);
      // All figures have the same response type, so any path works here.
      const update: Figure = await call("get", `/api/v1/${path}` as "/api/v1/figures/profile", {
        params: { query: Object.fromEntries(query) as { runs: string } },
        signal,
      });
      return mergeFigure(cached, update);
    },
    placeholderData: keepPreviousData,
  });

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

type Trace = Figure["data"][number];

/** Return the complete figure after a response, which may hold only the new points of each line. */
export function mergeFigure(cached: Figure | undefined, update: Figure): Figure {
  if (update.complete || !cached) return update;
  const traces = new Map(cached.data.map((trace) => [trace["uid"], trace]));
  return {
    ...update,
    complete: true,
    data: update.data.map((trace) => mergeTrace(traces.get(trace["uid"]), trace)),
  };
}

/** Keep the first `keep` entries of each cached list and append the update's entries. */
function mergeTrace(cached: Trace = {}, { keep, ...update }: Trace): Trace {
  const merged: Trace = { ...cached };
  for (const [name, value] of Object.entries(update)) {
    const before = cached[name];
    const lists = Array.isArray(value) && Array.isArray(before);
    merged[name] = lists ? [...(before as unknown[]).slice(0, Number(keep)), ...(value as unknown[])] : value;
  }
  return merged;
}
