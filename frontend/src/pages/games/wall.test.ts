import { describe, expect, it } from "vitest";
import { aBestScore, aGameCard, gamesOf, unplayed } from "@/testing/games";
import { barShare, paramsOf, shownGames, shownProtocol, viewOf, type WallView } from "./wall";

const percent = (human_normalised: number | "NaN" | null) => ({
  best: [aBestScore({ human_normalised })],
});
const GAMES = [
  aGameCard("Alien", percent(9.8)),
  aGameCard("Boxing", { best: [] }),
  aGameCard("Breakout", percent(1149)),
  aGameCard("Montezuma Revenge", percent(-2)),
  aGameCard("Phoenix", percent(null)),
  aGameCard("Qbert", { best: [aBestScore({ protocol: "no-op-30min", human_normalised: null })] }),
  aGameCard("Tennis", percent("NaN")),
  unplayed("Amidar"),
];
const view = (changes: Partial<WallView> = {}): WallView => ({
  ...viewOf(new URLSearchParams()),
  ...changes,
});
const names = (changes: Partial<WallView>) =>
  shownGames(GAMES, view(changes), "no-op-5min").map(({ name }) => name);

describe("the wall", () => {
  it("has the highest human-normalised score first, and what has none behind all that have", () => {
    expect(names({})).toEqual([
      "Breakout",
      "Alien",
      "Montezuma Revenge",
      "Phoenix",
      "Tennis",
      "Qbert",
      "Boxing",
    ]);
  });

  it("stands by name when it is asked to", () => {
    expect(names({ sort: "name" })[0]).toBe("Alien");
  });

  it("shows games without runs when it is asked to, the last", () => {
    expect(names({ all: true }).at(-1)).toBe("Amidar");
  });

  it("is searched by every word, in names and addresses", () => {
    expect(names({ text: " rev  MONT" })).toEqual(["Montezuma Revenge"]);
    expect(names({ text: "montezuma-rev" })).toEqual(["Montezuma Revenge"]);
    expect(names({ text: "amidar" })).toEqual([]);
  });

  it("keeps its view in the address, without what is usual", () => {
    expect(paramsOf(view()).toString()).toBe("");
    const chosen = view({ text: "a b", sort: "name", protocol: "no-op-30min", all: true });
    expect(viewOf(paramsOf(chosen))).toEqual(chosen);
  });

  it("shows scores by the protocol of the most games, unless one is chosen", () => {
    const { averages } = gamesOf([], [{ games: 1 }, { protocol: "no-op-30min", games: 3 }]);
    expect(shownProtocol(averages, null)?.protocol).toBe("no-op-30min");
    expect(shownProtocol(averages, "no-op-5min")?.protocol).toBe("no-op-5min");
    expect(shownProtocol(averages, "unheard-of")?.protocol).toBe("no-op-30min");
    expect(shownProtocol([], null)).toBeNull();
  });
});

it.each([
  [0, 0],
  [-5, 0],
  [100, 0.5],
  [200, 1],
  [1149, 1],
  ["Infinity", 1],
  ["NaN", 0],
  [null, 0],
] as const)("a bar of %s %% is filled by %s", (percent, share) => {
  expect(barShare(percent)).toBe(share);
});
