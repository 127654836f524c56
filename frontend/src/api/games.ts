import { keepPreviousData } from "@tanstack/react-query";
import { apiQuery } from "./requests";
import { figureAt } from "./figures";
import { showsJobs } from "./jobs";
import { byProject } from "./projectFilter";
import { live, LIST_SECONDS, ofAny, ofJobs, SELDOM_SECONDS } from "./topics";

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

const TOPICS = [
  ...ofAny("run.changed", "run.removed", "run.files", "play.changed", "projects.changed"),
  ...ofJobs("evaluation"),
];

/** Games with the runs of a project, or of all. */
export const gamesQuery = (project: string | null = null) =>
  apiQuery(
    gameKeys.list(project),
    "/api/v1/games",
    { query: byProject(project) },
    live(TOPICS, SELDOM_SECONDS),
  );

/** A game with the runs of a project, or of all. */
export const gameQuery = (slug: string, project: string | null = null) =>
  apiQuery(
    gameKeys.detail(slug, project),
    "/api/v1/games/{slug}",
    {
      path: { slug },
      query: byProject(project),
    },
    showsJobs(TOPICS, LIST_SECONDS),
  );

/** Bar chart of one score table of a game. */
export const gameFigureQuery = (slug: string, table: FigureTable) =>
  apiQuery(
    gameKeys.figure(slug, table),
    "/api/v1/games/{slug}/figure",
    { path: { slug }, query: table },
    {
      ...live(TOPICS, SELDOM_SECONDS, figureAt(`/games/${slug}/figure`, { ...table })),
      placeholderData: keepPreviousData,
    },
  );
