import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { figureAt } from "./figures";
import { byProject } from "./projectFilter";
import type { Figure, Game, Games } from "./types";

export const gameKeys = {
  all: ["games"] as const,
  list: (project: string | null) => [...gameKeys.all, { project }] as const,
  detail: (slug: string, project: string | null) => [...gameKeys.all, slug, { project }] as const,
  figure: (slug: string, table: FigureTable) => [...gameKeys.all, slug, "figure", table] as const,
};

/** A score table, with the runs of a project or of all. */
interface FigureTable {
  protocol: string;
  starts: string | null;
  project?: string[];
}

/** Games with the runs of a project, or of all. */
export const gamesQuery = (project: string | null = null) =>
  queryOptions({
    queryKey: gameKeys.list(project),
    queryFn: ({ signal }): Promise<Games> =>
      call("get", "/api/v1/games", { params: { query: byProject(project) }, signal }),
  });

/** A game with the runs of a project, or of all. */
export const gameQuery = (slug: string, project: string | null = null) =>
  queryOptions({
    queryKey: gameKeys.detail(slug, project),
    queryFn: ({ signal }): Promise<Game> =>
      call("get", "/api/v1/games/{slug}", { params: { path: { slug }, query: byProject(project) }, signal }),
  });

/** Bar chart of one score table of a game. */
export const gameFigureQuery = (slug: string, table: FigureTable) =>
  queryOptions({
    queryKey: gameKeys.figure(slug, table),
    meta: figureAt(`/games/${slug}/figure`, { ...table }),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/games/{slug}/figure", {
        params: { path: { slug }, query: table },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
