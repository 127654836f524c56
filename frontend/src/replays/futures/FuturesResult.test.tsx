import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import type { Futures } from "@/api/types";
import { aFuturesDocument, someFutures } from "@/testing/futures";
import { done } from "@/testing/server";
import { accepting, fakePlayback, openPanel, openReplay, press, show } from "@/testing/whatIf";

beforeEach(fakePlayback);

describe("a simulation", () => {
  it("shows its progress and can be cancelled", async () => {
    const futures: Futures[] = [];
    const running = { state: "running", document: null, done: 150, total: 600 } as const;
    const { of } = openReplay({
      futures,
      answers: {
        "POST /replays/2/futures": accepting(futures, running),
        "DELETE /futures/7": () => {
          futures.pop();
          return done();
        },
      },
    });
    await openPanel();
    await press("Simulate");
    expect(await screen.findByText("Simulating from decision 3, 25 % done")).toBeTruthy();
    await press("Cancel simulation");
    await waitFor(() => expect(screen.queryByText(/Simulating from/)).toBeNull());
    expect(of("DELETE /futures/7")).toHaveLength(1);
  });

  it("appears when it is done", async () => {
    const futures = [someFutures(7, { state: "running", document: null })];
    const { of, client } = openReplay({ futures });
    await openPanel();
    await press("Decision 3: simulating 8 futures of up to 200 decisions");
    await screen.findByText(/^Simulating from decision 3/);
    expect(of("GET /futures/7")).toHaveLength(0);
    futures[0] = someFutures(7);
    await client.invalidateQueries();
    expect(await screen.findByText(/^The critic is too low if its estimates at the end/)).toBeTruthy();
    expect(of("GET /futures/7")).toHaveLength(1);
  });

  it("shows why it failed", async () => {
    const failure = { state: "failed", document: null, reason: "The checkpoint is damaged." } as const;
    openReplay({ futures: [someFutures(7, failure)] });
    await openPanel();
    await press("Decision 3: failed 8 futures of up to 200 decisions");
    expect(await screen.findByText("The checkpoint is damaged.")).toBeTruthy();
    expect(screen.getByText("The simulation from decision 3 failed")).toBeTruthy();
  });

  it("leads back to its decision and lists its actions in order", async () => {
    openReplay({ futures: [someFutures(7, { each_action: true })] });
    await openPanel();
    await press("Decision 3: mean 1.75 8 futures of up to 200 decisions, each action first");
    expect(document.querySelector("video")?.currentTime).toBeCloseTo(8.5 / 20);
    const table = screen.getByRole("region", { name: "Each action first" });
    const rows = within(table).getAllByRole("row").slice(1);
    expect(rows.map((row) => row.textContent)).toEqual([
      "▸NOOP, taken25.0 %0.50.3 to 0.8",
      "FIREbetter75.0 %1.51.0 to 2.0",
    ]);
    expect(screen.getByText("3 of 8, half within 20 decisions")).toBeTruthy();
  });

  it("shows Q-values, and the score and lost lives over time", async () => {
    const actions = aFuturesDocument().actions.map((action) => ({
      ...action,
      probability: null,
      action_value: 0.125,
    }));
    const fan = [
      [0, 0, 0, 0, 0],
      [0, 1, 2, 3, 4],
    ];
    const document = aFuturesDocument({ actions, score_fan: fan, survival: [1, 0.5] });
    openReplay({ futures: [someFutures(7, { document })] });
    await openPanel();
    await press("Decision 3: mean 1.75 8 futures of up to 200 decisions");
    expect(await screen.findByRole("columnheader", { name: "Q-value" })).toBeTruthy();
    for (const title of ["Discounted returns", "Score over time", "No life lost and not over"])
      expect(screen.getByText(title)).toBeTruthy();
  });

  it("is compared with another agent's in the same charts", async () => {
    const mean = { mean: 2.5, interval: [2, 3] as [number, number] };
    openReplay({
      futures: [someFutures(8, { agent_run_id: 3 }), someFutures(7), someFutures(6, { decision: 5 })],
      answers: {
        "GET /futures/8": someFutures(8, { agent_run_id: 3, document: aFuturesDocument(mean) }),
      },
    });
    await openPanel();
    await press("Decision 3: mean 1.75 8 futures of up to 200 decisions");
    const select = await screen.findByRole("combobox", { name: "Compare with" });
    expect(within(select).getAllByRole("option")).toHaveLength(2);
    await userEvent.selectOptions(select, "Run 3 at 2 k steps");
    expect(
      await screen.findByText("Run 3 at 2 k steps: 8 futures average 2.5 (95 % 2 to 3), V = 0.5."),
    ).toBeTruthy();
  });

  it("has videos that follow the replay from its decision", async () => {
    const videos = [
      { shows: "best" as const, future: 7, file: "future-best.mp4" },
      { shows: "ghosts" as const, future: null, file: "future-ghosts.mp4" },
    ];
    const stored = [
      { shows: "best" as const, future: 7, file_id: 31 },
      { shows: "ghosts" as const, future: null, file_id: 32 },
    ];
    openReplay({ futures: [someFutures(7, { videos: stored, document: aFuturesDocument({ videos }) })] });
    await openPanel();
    await press("Decision 3: mean 1.75 8 futures of up to 200 decisions");
    const shown = await screen.findByRole("region", { name: "Videos of futures" });
    expect(within(shown).getByText("return 3.5, score 7")).toBeTruthy();
    expect(within(shown).getByText("8 futures, start only")).toBeTruthy();
    const video = within(shown).getByLabelText<HTMLVideoElement>("Best future");
    expect(video.getAttribute("src")).toContain("/files/31");
    Object.defineProperty(video, "duration", { value: 10 });
    show(0.9);
    expect(video.currentTime).toBeCloseTo(0.9 - 8 / 20);
    await press("Watch in sync");
    expect(document.querySelector("video")?.currentTime).toBeCloseTo(8.5 / 20);
  });

  it("is deleted after a question", async () => {
    const futures = [someFutures(7)];
    const { of } = openReplay({
      futures,
      answers: {
        "DELETE /futures/7": () => {
          futures.pop();
          return done();
        },
      },
    });
    await openPanel();
    await press("Delete the simulation from decision 3");
    await press("Delete simulation");
    await waitFor(() => expect(screen.queryByText(/^Decision 3/)).toBeNull());
    expect(of("DELETE /futures/7")).toHaveLength(1);
  });
});
