import { describe, expect, it } from "vitest";
import { aBestScore, aGameCard, aMethodScore, gamesOf, unplayed } from "@/testing/games";
import { barShare, paramsOf, shownGames, shownProtocol, viewOf, type WallView } from "./wall";

const percent = (human_normalized: number | "NaN" | null) => ({
  methods: [aMethodScore({ human_normalized })],
});
const GAMES = [
  aGameCard("Alien", percent(9.8)),
  aGameCard("Boxing", { best: [], methods: [] }),
  aGameCard("Breakout", percent(1149)),
  aGameCard("Montezuma Revenge", percent(-2)),
  aGameCard("Phoenix", percent(null)),
  aGameCard("Qbert", {
    best: [aBestScore({ protocol: "no-op-30min", human_normalized: null })],
    methods: [],
  }),
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
  it("sorts by human-normalized score, with games without one last", () => {
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

  it("can be sorted by name", () => {
    expect(names({ sort: "name" })[0]).toBe("Alien");
  });

  it("can show games without runs, last", () => {
    expect(names({ all: true }).at(-1)).toBe("Amidar");
  });

  it("finds games that match all words, in titles and slugs", () => {
    expect(names({ text: " rev  MONT" })).toEqual(["Montezuma Revenge"]);
    expect(names({ text: "montezuma-rev" })).toEqual(["Montezuma Revenge"]);
    expect(names({ text: "amidar" })).toEqual([]);
  });

  it("stores its view in the URL, without defaults", () => {
    expect(paramsOf(view()).toString()).toBe("");
    const chosen = view({ text: "a b", sort: "name", protocol: "no-op-30min", all: true });
    expect(viewOf(paramsOf(chosen))).toEqual(chosen);
  });

  it("uses the protocol with the most games by default", () => {
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
] as const)("fills a bar of %s %% by %s", (percent, share) => {
  expect(barShare(percent)).toBe(share);
});
