import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Games } from "@/api/types";
import { aBestScore, aGameCard, aMethodScore, gamesOf, unplayed } from "@/testing/games";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import GamesPage from "./GamesPage";

const picture = { run_id: 7, step: 100, file_id: 31, poster_file_id: 32 };

function open(games: Games | (() => object), at = "/games") {
  const server = serve({ "GET /games": games });
  return { server, ...renderPage(<GamesPage />, { at, path: "/games" }) };
}

const cards = () => screen.queryAllByRole("article");
const card = async (name: string) =>
  (await screen.findByRole("link", { name })).closest("article") as HTMLElement;

describe("the game list", () => {
  it("shows the best method of each game by all its runs, and the best checkpoint apart", async () => {
    open(gamesOf([aGameCard("Pong", { best: [aBestScore({ mean: 20.7 })] })]));
    const pong = await card("Pong");
    expect(pong.textContent).toContain("18.3");
    expect(pong.textContent).toContain("PAAC, mean of 3 runs");
    expect(pong.textContent).toContain("Best 20.7");
    expect(pong.textContent).toContain("130\u00a0% of human");
    expect(pong.textContent).toContain("no-op-5min");
    expect(within(pong).getByRole("link", { name: "Pong" }).getAttribute("href")).toBe("/games/pong");
    expect(within(pong).getByRole("link", { name: "pong-1" }).getAttribute("href")).toBe("/runs/1");
    expect(screen.getByText("1 game with runs, 1 with a score")).toBeTruthy();
  });

  it("shows averages with the number of included and excluded games", async () => {
    const a3c = { algorithm: "a3c", method: "A3C", median: 10 };
    open(gamesOf([aGameCard("Pong")], [{ games: 9, normalized_games: 7, runs: 21 }, a3c]));
    const over = await screen.findByRole("region", { name: "Over the games" });
    const [averages] = within(over).getAllByRole("table") as [HTMLElement];
    const rows = within(averages).getAllByRole("row").slice(1);
    expect(rows.map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => textContent))).toEqual([
      ["PAAC7 games, 21 runs, 2 more cannot be normalized", "24.2\u00a0%", "42\u00a0%", "194\u00a0%"],
      ["A3C2 games, 6 runs", "10\u00a0%", "42\u00a0%", "194\u00a0%"],
    ]);
    expect(over.textContent).toContain("Gorila (Nair et al. 2015), table 4");
  });

  it("separates protocols", async () => {
    const both = [
      aMethodScore(),
      aMethodScore({ protocol: "no-op-30min", mean: 21, human_normalized: null }),
    ];
    const best = [aBestScore(), aBestScore({ protocol: "no-op-30min", mean: 21, human_normalized: null })];
    open(
      gamesOf(
        [aGameCard("Pong", { methods: both, best }), aGameCard("Alien")],
        [{}, { protocol: "no-op-30min", title: "No-op starts, 30 minutes", games: 1, normalized_games: 0 }],
      ),
    );
    expect((await card("Pong")).textContent).toContain("18.3");
    expect(
      screen.getByText(
        "1 game with a score. The papers have no random and higher human score for them by this protocol, so there is no average.",
      ),
    ).toBeTruthy();
    await userEvent.selectOptions(screen.getByLabelText("Score protocol"), "no-op-30min");
    expect((await card("Pong")).textContent).toContain("21");
    expect((await card("Alien")).textContent).toContain("No score by no-op-30min; 18.3 by no-op-5min");
  });

  it("plays a silent replay on hover", async () => {
    open(gamesOf([aGameCard("Pong", { picture })]));
    const pong = await card("Pong");
    expect(pong.querySelector("img")?.getAttribute("src")).toBe("/api/v1/files/32");
    expect(pong.querySelector("video")).toBeNull();
    fireEvent.pointerEnter(pong, { pointerType: "mouse" });
    const film = pong.querySelector("video");
    expect(film?.getAttribute("src")).toBe("/api/v1/files/31");
    expect([film?.muted, film?.autoplay, film?.loop]).toEqual([true, true, true]);
    fireEvent.pointerLeave(pong);
    expect(pong.querySelector("video")).toBeNull();
  });

  it("shows the best agent, not the newest", async () => {
    const best = [aBestScore({ picture: { ...picture, poster_file_id: 99 } })];
    open(gamesOf([aGameCard("Pong", { best, picture })]));
    expect((await card("Pong")).querySelector("img")?.getAttribute("src")).toBe("/api/v1/files/99");
  });

  it("can be searched, and shows games without runs by a switch", async () => {
    const { router } = open(gamesOf([aGameCard("Pong"), aGameCard("Alien"), unplayed("Amidar")]));
    await card("Pong");
    expect(screen.queryByText("Amidar")).toBeNull();
    await userEvent.click(screen.getByLabelText("Games without runs (1)"));
    expect(screen.getByRole("link", { name: "Amidar" }).getAttribute("href")).toBe("/games/amidar");
    await userEvent.type(screen.getByLabelText("Search games"), "po");
    const shown = () => cards().map((each) => within(each).getByRole("heading").textContent);
    await waitFor(() => expect(shown()).toEqual(["Pong"]));
    expect(router.state.location.search).toBe("?text=po&all=true");
    await userEvent.type(screen.getByLabelText("Search games"), "xx");
    expect(await screen.findByText("No game matches “poxx”")).toBeTruthy();
  });

  it("accepts letters in the search field", async () => {
    open(gamesOf([aGameCard("Pong")]));
    await card("Pong");
    const search = screen.getByLabelText<HTMLInputElement>("Search games");
    await userEvent.type(search, "pg");
    await userEvent.type(search, "on", { initialSelectionStart: 1, initialSelectionEnd: 1 });
    expect(search.value).toBe("pong");
  });

  it("explains how to get a first run", async () => {
    open(gamesOf([unplayed("Amidar")], []));
    await screen.findByText("No games with runs yet");
    const launch = screen.getByRole("link", { name: "Launch PAAC on Pong" });
    expect(launch.getAttribute("href")).toBe("/launch?preset=paac-pong");
    await userEvent.click(screen.getByRole("button", { name: "Show all games" }));
    expect(await screen.findByRole("link", { name: "Amidar" })).toBeTruthy();
  });

  it("explains how to get a first score", async () => {
    open(gamesOf([aGameCard("Pong", { best: [], methods: [], evaluated_runs: 0, runs: 3 })], []));
    await screen.findByText("No scores yet");
    expect((await card("Pong")).textContent).toContain("3 runs, none evaluated yet");
  });

  it("links to the CSV file", async () => {
    open(gamesOf([aGameCard("Pong"), unplayed("Amidar")]));
    const save = await screen.findByRole("link", { name: "Download scores (CSV)" });
    expect(save.getAttribute("href")).toBe("/api/v1/export/games.csv");
    expect(save.hasAttribute("download")).toBe(true);
  });

  it("has no CSV file without a score", async () => {
    open(gamesOf([aGameCard("Pong", { best: [], methods: [], evaluated_runs: 0 })], []));
    await card("Pong");
    expect(screen.queryByText("Download scores (CSV)")).toBeNull();
  });

  it("shows that a score is from few episodes", async () => {
    open(gamesOf([aGameCard("Pong", { best: [aBestScore({ short: true, episodes: 2 })] })]));
    expect((await card("Pong")).textContent).toContain("From 2 episodes only");
  });

  it("can be fetched again after a server error", async () => {
    let answers = 0;
    open(() => (answers++ === 0 ? refusal(500, "The database is locked.") : gamesOf([aGameCard("Pong")])));
    await screen.findByText("The database is locked.");
    await userEvent.click(screen.getByText("Try again"));
    expect(await card("Pong")).toBeTruthy();
  });
});
