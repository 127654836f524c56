import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { figureAt } from "./figures";
import type { Figure, Game, Games } from "./types";

export const gameKeys = {
  all: ["games"] as const,
  detail: (slug: string) => [...gameKeys.all, slug] as const,
  figure: (slug: string, table: { protocol: string; starts: string | null }) =>
    [...gameKeys.detail(slug), "figure", table] as const,
};

export const gamesQuery = queryOptions({
  queryKey: gameKeys.all,
  queryFn: ({ signal }): Promise<Games> => call("get", "/api/v1/games", { signal }),
});

export const gameQuery = (slug: string) =>
  queryOptions({
    queryKey: gameKeys.detail(slug),
    queryFn: ({ signal }): Promise<Game> =>
      call("get", "/api/v1/games/{slug}", { params: { path: { slug } }, signal }),
  });

/** Bar chart of one score table of a game. */
export const gameFigureQuery = (slug: string, protocol: string, starts: string | null) =>
  queryOptions({
    queryKey: gameKeys.figure(slug, { protocol, starts }),
    meta: figureAt(`/games/${slug}/figure`, { protocol, starts }),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/games/{slug}/figure", {
        params: { path: { slug }, query: { protocol, starts } },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
