import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Games } from "@/api/types";
import { aBestScore, aGameCard, gamesOf, unplayed } from "@/testing/games";
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

describe("the wall of games", () => {
  it("says of each game its best score, and which run has it by which protocol", async () => {
    open(gamesOf([aGameCard("Pong")]));
    const pong = await card("Pong");
    expect(pong.textContent).toContain("18.3");
    expect(pong.textContent).toContain("130\u00a0% of human");
    expect(pong.textContent).toContain("no-op-5min");
    expect(within(pong).getByRole("link", { name: "Pong" }).getAttribute("href")).toBe("/games/pong");
    expect(within(pong).getByRole("link", { name: "pong-1" }).getAttribute("href")).toBe("/runs/1");
    expect(screen.getByText("1 game with runs, 1 with a score")).toBeTruthy();
  });

  it("averages over the games, and says over how many and which it leaves out", async () => {
    open(gamesOf([aGameCard("Pong")], [{ games: 9, normalised_games: 7, short_games: 1 }]));
    const over = await screen.findByRole("region", { name: "Over the games" });
    expect([...over.querySelectorAll("dd")].map(({ textContent }) => textContent)).toEqual([
      "24.2\u00a0%",
      "42\u00a0%",
      "194\u00a0%",
    ]);
    expect(over.textContent).toContain("over 7 games");
    expect(over.textContent).toContain("2 games cannot be normalised. 1 score from fewer episodes");
    expect(over.textContent).toContain("Gorila (Nair et al. 2015), table 4");
  });

  it("takes each protocol apart", async () => {
    const both = [aBestScore(), aBestScore({ protocol: "no-op-30min", mean: 21, human_normalised: null })];
    open(
      gamesOf(
        [aGameCard("Pong", { best: both }), aGameCard("Alien")],
        [{}, { protocol: "no-op-30min", title: "No-op starts, 30 minutes", games: 1, normalised_games: 0 }],
      ),
    );
    expect((await card("Pong")).textContent).toContain("18.3");
    expect(
      screen.getByText(
        "1 game with a score. None here has both a random score and a higher human score by this protocol in the papers, so there is no average over games.",
      ),
    ).toBeTruthy();
    await userEvent.selectOptions(screen.getByLabelText("Protocol of the scores"), "no-op-30min");
    expect((await card("Pong")).textContent).toContain("21");
    expect((await card("Alien")).textContent).toContain("No score by no-op-30min; 18.3 by no-op-5min");
  });

  it("plays a picture quietly while the mouse is on it", async () => {
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

  it("shows the best agent rather than the newest", async () => {
    const best = [aBestScore({ picture: { ...picture, poster_file_id: 99 } })];
    open(gamesOf([aGameCard("Pong", { best, picture })]));
    expect((await card("Pong")).querySelector("img")?.getAttribute("src")).toBe("/api/v1/files/99");
  });

  it("is searched, and shows games without runs by a switch", async () => {
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
    expect(await screen.findByText("No game is called “poxx”")).toBeTruthy();
  });

  it("takes letters where they are typed into the search", async () => {
    open(gamesOf([aGameCard("Pong")]));
    await card("Pong");
    const search = screen.getByLabelText<HTMLInputElement>("Search games");
    await userEvent.type(search, "pg");
    await userEvent.type(search, "on", { initialSelectionStart: 1, initialSelectionEnd: 1 });
    expect(search.value).toBe("pong");
  });

  it("says how to come to a first run", async () => {
    open(gamesOf([unplayed("Amidar")], []));
    await screen.findByText("No game has been played here yet");
    const launch = screen.getByRole("link", { name: "Launch PAAC on Pong" });
    expect(launch.getAttribute("href")).toBe("/launch?preset=paac-pong");
    await userEvent.click(screen.getByRole("button", { name: "Show all games" }));
    expect(await screen.findByRole("link", { name: "Amidar" })).toBeTruthy();
  });

  it("says how to come to a first score", async () => {
    open(gamesOf([aGameCard("Pong", { best: [], evaluated_runs: 0, runs: 3 })], []));
    await screen.findByText("No run has a score yet");
    expect((await card("Pong")).textContent).toContain("3 runs, none evaluated yet");
  });

  it("gives the scores away", async () => {
    open(gamesOf([aGameCard("Pong"), unplayed("Amidar")]));
    const save = await screen.findByRole("link", { name: "Download scores (CSV)" });
    expect(save.getAttribute("href")).toBe("/api/v1/export/games.csv");
    expect(save.hasAttribute("download")).toBe(true);
  });

  it("has nothing to give away without a score", async () => {
    open(gamesOf([aGameCard("Pong", { best: [], evaluated_runs: 0 })], []));
    await card("Pong");
    expect(screen.queryByText("Download scores (CSV)")).toBeNull();
  });

  it("says that a score is from few episodes", async () => {
    open(gamesOf([aGameCard("Pong", { best: [aBestScore({ short: true, episodes: 2 })] })]));
    expect((await card("Pong")).textContent).toContain("From 2 episodes only");
  });

  it("is fetched once more on request when the server stumbled", async () => {
    let answers = 0;
    open(() => (answers++ === 0 ? refusal(500, "The database is locked.") : gamesOf([aGameCard("Pong")])));
    await screen.findByText("The database is locked.");
    await userEvent.click(screen.getByText("Try again"));
    expect(await card("Pong")).toBeTruthy();
  });
});
