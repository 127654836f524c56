/** View of the game list, stored in the URL. */

import type { BestScore, GameAverage, GameCard, MethodScore, MetricValue } from "@/api/types";

export const SORTS = [
  { value: "score", label: "Best score first" },
  { value: "name", label: "By name" },
] as const;

export type Sort = (typeof SORTS)[number]["value"];

export interface WallView {
  text: string;
  sort: Sort;
  /** Protocol of the shown scores, or null for the one with the most games. */
  protocol: string | null;
  /** True if games without runs are shown too. */
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

/** Return the chosen protocol, or the one with the most games. */
export function shownProtocol(averages: readonly GameAverage[], chosen: string | null): GameAverage | null {
  const [most] = averages.toSorted((a, b) => b.games - a.games);
  return averages.find(({ protocol }) => protocol === chosen) ?? most ?? null;
}

/** Return the score of the best method by a protocol. */
export const scoreBy = (game: GameCard, protocol: string | undefined): MethodScore | undefined =>
  game.methods.find((score) => score.protocol === protocol);

/** Return the score of the run with the best checkpoint by a protocol. */
export const bestRunBy = (game: GameCard, protocol: string | undefined): BestScore | undefined =>
  game.best.find((score) => score.protocol === protocol);

/** Return the games of a view. By score, games with a human-normalized score come first, then other scores. */
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
  const percent = score?.human_normalized;
  if (typeof percent === "number") return percent;
  // After all percentages: other scores, scores by other protocols, games with runs, all others.
  const place = score ? 4 : game.best.length > 0 ? 3 : game.runs > 0 ? 2 : 1;
  return -1e12 * (5 - place);
}

/** Common end of all bars, so that bars are comparable across cards. */
export const BAR_END = 200;

/** Return the filled fraction of a bar, from 0 to 1. */
export function barShare(percent: MetricValue | null): number {
  if (percent === "Infinity") return 1;
  return typeof percent === "number" ? Math.min(1, Math.max(0, percent / BAR_END)) : 0;
}
