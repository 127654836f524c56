/** What the wall of games shows, and in which order; all of it stands in the address. */

import type { BestScore, GameAverage, GameCard, MetricValue } from "@/api/types";

export const SORTS = [
  { value: "score", label: "Best score first" },
  { value: "name", label: "By name" },
] as const;

export type Sort = (typeof SORTS)[number]["value"];

export interface WallView {
  text: string;
  sort: Sort;
  /** By which the cards show scores; null for the one that most games are evaluated by. */
  protocol: string | null;
  /** Whether games without runs are shown as well. */
  all: boolean;
}

export function viewOf(params: URLSearchParams): WallView {
  return {
    text: params.get("text") ?? "",
    sort: params.get("sort") === "name" ? "name" : "score",
    protocol: params.get("protocol"),
    all: params.get("all") === "true",
  };
}

export function paramsOf({ text, sort, protocol, all }: WallView): URLSearchParams {
  const params = new URLSearchParams();
  if (text) params.set("text", text);
  if (sort !== "score") params.set("sort", sort);
  if (protocol) params.set("protocol", protocol);
  if (all) params.set("all", "true");
  return params;
}

/** The protocol whose scores are shown: the chosen one, else that of the most games. */
export function shownProtocol(averages: readonly GameAverage[], chosen: string | null): GameAverage | null {
  const [most] = averages.toSorted((a, b) => b.games - a.games);
  return averages.find(({ protocol }) => protocol === chosen) ?? most ?? null;
}

export function scoreBy(game: GameCard, protocol: string | undefined): BestScore | undefined {
  return game.best.find((score) => score.protocol === protocol);
}

/** The games of a view; by score, those come first whose human-normalised score is highest, then other scores. */
export function shownGames(
  games: readonly GameCard[],
  { text, sort, all }: WallView,
  protocol: string | undefined,
): GameCard[] {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name, slug }: GameCard) =>
    words.every((word) => `${name} ${slug}`.toLowerCase().includes(word));
  const found = games.filter((game) => (all || game.runs > 0) && fits(game));
  return sort === "name" ? found : found.toSorted((a, b) => standing(b, protocol) - standing(a, protocol));
}

function standing(game: GameCard, protocol: string | undefined): number {
  const score = scoreBy(game, protocol);
  const percent = score?.human_normalised;
  if (typeof percent === "number") return percent;
  // Below every percentage: what cannot be normalised, what other protocols scored, runs, nothing.
  const place = score ? 4 : game.best.length > 0 ? 3 : game.runs > 0 ? 2 : 1;
  return -1e12 * (5 - place);
}

/** The end of every bar, so that bars compare across cards. */
export const BAR_END = 200;

/** How much of its bar a human-normalised score fills, between 0 and 1. */
export function barShare(percent: MetricValue | null): number {
  if (percent === "Infinity") return 1;
  return typeof percent === "number" ? Math.min(1, Math.max(0, percent / BAR_END)) : 0;
}
