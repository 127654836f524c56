import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Game } from "@/api/types";
import { aJobNotice } from "@/testing/jobs";
import { anUnfinishedEvaluation } from "@/testing/evaluations";
import {
  aGame,
  aMethodRow,
  aRunScore,
  aScoreRow,
  aScoreTable,
  aWaitingEvaluation,
  aWaitingRun,
} from "@/testing/games";
import plotly from "@/testing/plotly";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import GamePage from "./GamePage";

const GORILA = { source: "Gorila (Nair et al. 2015)", table: "table 4" };
const PAAC = { source: "PAAC (Clemente et al. 2017)", table: "table 1" };
const published = aScoreRow({ rank: 2, score: 16.7, human_normalized: 124.6, sources: [GORILA, PAAC] });

/** Charts are drawn when visible. Most of these tests do not need them. */
function show(seen: boolean) {
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(private readonly changed: (entries: object[]) => void) {}
      observe() {
        if (seen) act(() => this.changed([{ isIntersecting: true }]));
      }
      disconnect() {}
    },
  );
}

beforeEach(() => show(false));

function open(game: Game | (() => object), more: Record<string, object> = {}, live = false) {
  const server = serve({ "GET /games/pong": game, "GET /start-sets": [], "GET /kept-games": [], ...more });
  return {
    server,
    ...renderPage(<GamePage />, { at: "/games/pong", path: "/games/:slug", live }),
  };
}

const cells = (table: HTMLElement) =>
  within(table)
    .getAllByRole("row")
    .slice(1)
    .map((row) => [...row.querySelectorAll("td")].map(({ textContent }) => textContent));

describe("the page of a game", () => {
  it("ranks methods and published scores with their sources, and then shows the best checkpoints", async () => {
    open(aGame([aScoreTable([aMethodRow({ failed: 1 }), published, aScoreRow({ rank: null, score: 20 })])]));
    const region = within(await screen.findByRole("region", { name: "No-op starts, 5 minutes" }));
    const [table, runs] = region.getAllByRole("table") as [HTMLElement, HTMLElement];
    expect(cells(table)).toEqual([
      ["1", "PAACmean of 3 runs · 5 M steps · 1 failed run left out", "18.317.1 to 19.4", "130\u00a0%"],
      [
        "2",
        "GorilaGorila (Nair et al. 2015), table 4; also PAAC (Clemente et al. 2017), table 1",
        "16.7",
        "125\u00a0%",
      ],
    ]);
    const [, ours, theirs] = within(table).getAllByRole("row");
    expect(ours?.hasAttribute("data-ours")).toBe(true);
    expect(theirs?.hasAttribute("data-ours")).toBe(false);
    expect(cells(runs)).toEqual([
      ["pong-1 #1PAAC · 5 M steps · 30 episodes · sampled", "2017.1 to 19.4", "130\u00a0%"],
    ]);
    expect(within(runs).getByRole("link", { name: "pong-1" }).getAttribute("href")).toBe("/runs/1");
  });

  it("names the start points of a run, because the papers' are not published", async () => {
    const ours = aRunScore({ protocol: "human-starts", start_set: "Ana's games" });
    const human = { protocol: "human-starts", title: "Human starts" };
    open(aGame([aScoreTable([aScoreRow({ ours }), published], human)]));
    await screen.findByText("PAAC · 5 M steps · 30 episodes · sampled · from Ana's games");
    expect(screen.getByText(/The papers' start points were not published/)).toBeTruthy();
  });

  it("draws a ranking of three scores as bars", async () => {
    show(true);
    const drawn = vi.spyOn(plotly, "react");
    const { server } = open(
      aGame([aScoreTable([aMethodRow(), published, { ...published, player: "DQN" }])]),
      {
        "GET /games/pong/figure": {
          data: [{ x: [18.3, 16.7, 16.7] }],
          layout: {},
          cursor: "",
          complete: true,
        },
      },
    );
    await waitFor(() => expect(drawn.mock.lastCall?.[1]).toEqual([{ x: [18.3, 16.7, 16.7] }]));
    expect(server.of("GET /games/pong/figure")[0]?.query.toString()).toBe("protocol=no-op-5min");
    expect(screen.getByRole("img", { name: /^Scores in Pong .* 3 players/ })).toBeTruthy();
  });

  it("shows why a score is not ranked", async () => {
    const few = "2 of the protocol's 30 episodes";
    open(aGame([aScoreTable([aScoreRow({ rank: null, unranked_because: few }), published])]));
    await screen.findByText(`Not ranked: ${few}`);
  });

  it("shows other protocols separately, with the reason", async () => {
    const apart = aScoreTable([aScoreRow({ rank: null, sources: [PAAC] })], {
      protocol: "GA3C: mean of 30 games",
      title: "GA3C: mean of 30 games",
      sentence: null,
      normalized_by: null,
      apart_because: "The paper measured in a way that is no protocol here.",
    });
    open(aGame([aScoreTable([aScoreRow(), published]), apart]));
    const others = await screen.findByRole("region", { name: "Other protocols" });
    expect(others.textContent).toContain("The paper measured in a way that is no protocol here.");
    expect(cells(within(others).getByRole("table"))).toEqual([
      ["GorilaPAAC (Clemente et al. 2017), table 1", "18.3"],
    ]);
  });

  it("links to the launch form and to the CSV file", async () => {
    open(aGame([aScoreTable([aScoreRow()])]));
    const launch = await screen.findByRole("link", { name: "Launch a run of Pong" });
    expect(launch.getAttribute("href")).toBe("/launch?env=ALE%2FPong-v5");
    const save = screen.getByRole("link", { name: "Download scores (CSV)" });
    expect(save.getAttribute("href")).toBe("/api/v1/export/games/pong.csv");
  });

  it("requests an evaluation and shows what it waits for", async () => {
    let waiting = [aWaitingRun(), aWaitingRun({ id: 8, has_checkpoint: false })];
    const { server } = open(() => aGame([], { waiting, waiting_total: waiting.length }), {
      "POST /runs/9/evaluations": () => {
        waiting = [aWaitingRun({ evaluation: aWaitingEvaluation() })];
        return anUnfinishedEvaluation(3, { step: 100, reason: "A worker is about to take it." });
      },
    });
    await screen.findByText("No checkpoint yet");
    await userEvent.click(screen.getByRole("button", { name: "Evaluate new #9" }));
    await screen.findByText(
      "Requested an evaluation by no-op-5min at 100 steps. A worker is about to take it.",
    );
    await screen.findByText("Waiting");
    expect(screen.getByText("A worker is about to take it.")).toBeTruthy();
    expect(server.of("POST /runs/9/evaluations")[0]?.body).toEqual({ checkpoint: "newest", seed: 1 });
  });

  it("shows the best twenty runs, and more on request", async () => {
    const rows = Array.from({ length: 25 }, (_, place) => {
      const run = { ...aRunScore().run, id: place + 1, name: `run ${place + 1}` };
      return aScoreRow({ rank: place + 1, ours: aRunScore({ evaluation_id: place, run }) });
    });
    open(aGame([aScoreTable([...rows, published])]));
    await screen.findByText("run 20");
    expect(screen.queryByText("run 21")).toBeNull();
    expect(screen.getByText("Gorila")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Show 5 more runs" }));
    expect(screen.getByText("run 25")).toBeTruthy();
  });

  it("shows that there are more runs", async () => {
    open(aGame([aScoreTable([aScoreRow(), published], { runs_total: 1_000 })]));
    await screen.findByText("The best 1 of 1 000 runs. The CSV file has all.");
  });

  it("is fetched again when an evaluation ends", async () => {
    fakeStreams();
    let score = 1;
    open(() => aGame([aScoreTable([aScoreRow({ score })])]), {}, true);
    await screen.findByText("1", { selector: "[class*=mean] *" });
    score = 19.5;
    act(() => stream().say("job.changed", JSON.stringify(aJobNotice({ state: "done" }))));
    await waitFor(() => expect(screen.getByText("19.5")).toBeTruthy());
  });

  it("shows that the game does not exist, and suggests another", async () => {
    open(() => refusal(404, "There is no Atari game 'pong'. Did you mean ping?"));
    await screen.findByText("There is no Atari game 'pong'. Did you mean ping?");
    expect(screen.getByRole("link", { name: "All games" }).getAttribute("href")).toBe("/games");
  });
});
