import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Aggregates } from "@/api/types";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { aStudy } from "@/testing/studies";
import { aSuiteGame, aSuiteResult, theAggregates } from "@/testing/suites";
import StudyPage from "./StudyPage";

const SUITE = aStudy({
  specification: {
    name: "Two games",
    preset: "paac-sticky",
    axes: [{ field: "env", values: ["ALE/Pong-v5", "ALE/Qbert-v5"] }],
  },
  axes: [{ title: "Environment", fields: ["env"], numeric: false, log: false }],
});

async function open(aggregates: Aggregates) {
  const server = serve({
    "GET /studies/3": SUITE,
    "GET /studies/3/figure": { data: [], layout: {} },
    "GET /studies/3/aggregates": aggregates,
    "GET /studies/3/aggregates/figure": { data: [], layout: {} },
  });
  renderPage(<StudyPage />, { at: "/studies/3", path: "/studies/:id" });
  const card = within(await screen.findByRole("region", { name: "Scores over the games" }));
  await card.findAllByRole("group", { name: /^Games/ });
  return { server, card };
}

const texts = (rows: HTMLElement[]) =>
  rows.slice(1).map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => textContent));

describe("the scores of a study over its games", () => {
  it("has the statistics and the score of each game", async () => {
    const { card } = await open(theAggregates(aSuiteResult()));
    const statistics = within(card.getByRole("group", { name: "Statistics over the games" }));
    expect(texts(statistics.getAllByRole("row"))).toEqual([
      ["PAAC", "100\u00a0%", "100\u00a0%", "100\u00a0%", "25\u00a0%", "2"],
    ]);
    const games = within(card.getByRole("group", { name: "Games" }));
    expect(texts(games.getAllByRole("row"))).toEqual([
      ["Pong", "5", "50\u00a0%", "Evaluated"],
      ["Qbert", "5", "150\u00a0%", "Evaluated"],
    ]);
    expect(games.getByRole("link", { name: "Pong" }).getAttribute("href")).toBe("/games/pong");
    expect(card.getByText(/2 of 2 runs evaluated, by sticky-30min/)).toBeTruthy();
    expect(card.getByText(/Intervals need 3 scored runs/)).toBeTruthy();
  });

  it("shows intervals, and the estimate of Atari-5 with its source", async () => {
    const mean = { value: 61.5, low: 40, high: 82.25 };
    const { card } = await open(theAggregates(aSuiteResult({ seeds: 3, mean, estimated_median: mean })));
    expect(card.getAllByText("40 to 82.3")).toHaveLength(2);
    expect(card.getByText(/weights of Atari-5, plot_util.py/)).toBeTruthy();
    expect(card.queryByText(/Intervals need/)).toBeNull();
  });

  it("shows the progress before there are scores", async () => {
    const none = { scored: 0, score: null, percent: null };
    const games = [
      aSuiteGame("Pong", { ...none, episodes_done: 34, episodes_total: 100 }),
      aSuiteGame("Qbert", { ...none, runs: 3, finished: 1 }),
      aSuiteGame("Alien", { ...none, finished: 0 }),
    ];
    const nothing = { median: null, interquartile_mean: null, mean: null, optimality_gap: null };
    const { card } = await open(
      theAggregates(aSuiteResult({ games, ...nothing, normalized_games: 0, seeds: 0, normalized_by: [] })),
    );
    const rows = within(card.getByRole("group", { name: "Games" })).getAllByRole("row");
    expect(texts(rows).map((cells) => cells[3])).toEqual([
      "Evaluating: 34 of 100 episodes",
      "1 of 3 trained, 0 evaluated",
      "0 of 1 trained",
    ]);
    expect(card.queryByRole("group", { name: "Statistics over the games" })).toBeNull();
  });

  it("keeps methods apart", async () => {
    const { card } = await open(
      theAggregates(aSuiteResult({ label: "one" }), aSuiteResult({ label: "two" })),
    );
    expect(card.getByRole("group", { name: "Games of one" })).toBeTruthy();
    expect(card.getByRole("group", { name: "Games of two" })).toBeTruthy();
  });

  it("is only for studies that vary the game", async () => {
    const server = serve({ "GET /studies/3": aStudy(), "GET /studies/3/figure": { data: [], layout: {} } });
    renderPage(<StudyPage />, { at: "/studies/3", path: "/studies/:id" });
    await screen.findByRole("region", { name: "Points" });
    expect(screen.queryByRole("region", { name: "Scores over the games" })).toBeNull();
    expect(server.of("GET /studies/3/aggregates")).toEqual([]);
  });
});
