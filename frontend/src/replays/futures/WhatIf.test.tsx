import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Futures, Replay } from "@/api/types";
import { aCheckpoint, aReplay } from "@/testing/files";
import { aFuturesDocument, someFutures } from "@/testing/futures";
import { renderPage } from "@/testing/render";
import { aRun, runListOf } from "@/testing/runs";
import { done, refusal, serve } from "@/testing/server";
import { aTrack } from "@/testing/tracks";
import { aWorker } from "@/testing/workers";
import { ReplaysTab } from "../ReplaysTab";

// jsdom plays no videos.
beforeEach(() => {
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});

interface Scene {
  futures?: Futures[];
  replay?: Partial<Replay>;
  track?: object;
  answers?: Parameters<typeof serve>[0];
}

function open({ futures = [], replay = {}, track = aTrack(), answers = {} }: Scene = {}) {
  const server = serve({
    "GET /runs/1/replays": [aReplay(2, 2000, { track_file_id: 401, ...replay })],
    "GET /replays/2/track": track,
    "GET /replays/2/futures": () => futures,
    "GET /futures/7": () => futures.find(({ id }) => id === 7),
    "GET /workers": [aWorker("one")],
    "GET /kept-games": [],
    ...answers,
  });
  return { ...server, ...renderPage(<ReplaysTab run={aRun()} />) };
}

const button = (name: string) => screen.findByRole("button", { name });
const press = async (name: string) => userEvent.click(await button(name));

async function openPanel() {
  await screen.findByRole("slider", { name: "Moment of the replay" });
  await press("What if…");
  return screen.findByRole("region", { name: "What if" });
}

function show(seconds: number) {
  const player = document.querySelector("video") as HTMLVideoElement;
  player.currentTime = seconds;
  act(() => void fireEvent.timeUpdate(player));
}

/** Answer a request with futures that the list then has. */
function accepting(futures: Futures[], changes: Partial<Futures> = {}) {
  return () => {
    const made = someFutures(7, changes);
    futures.unshift(made);
    return made;
  };
}

describe("asking what if", () => {
  it("is not possible without a track", async () => {
    open({ replay: { track_file_id: null } });
    const opener = await button("What if…");
    expect(opener.getAttribute("aria-disabled")).toBe("true");
    await userEvent.hover(opener);
    expect(await screen.findByText(/has no track/, { selector: "[role=tooltip]" })).toBeTruthy();
    await userEvent.click(opener);
    expect(screen.queryByRole("region", { name: "What if" })).toBeNull();
  });

  it("simulates from the shown decision and shows the result", async () => {
    const futures: Futures[] = [];
    const { of } = open({ futures, answers: { "POST /replays/2/futures": accepting(futures) } });
    const panel = await openPanel();
    expect(document.activeElement).toBe(panel);
    show(0.42);
    expect(within(panel).getByRole("heading", { name: "What if… from decision 3" })).toBeTruthy();
    await press("Simulate");
    expect(await within(panel).findByText(/^V = 0.5. 8 futures average 1.8/)).toBeTruthy();
    expect(within(panel).getByText("The critic is too low.")).toBeTruthy();
    expect(of("POST /replays/2/futures").map(({ body }) => body)).toEqual([
      {
        decision: 2,
        futures: 64,
        horizon: 200,
        until: "horizon",
        temperature: 1,
        record_videos: true,
        first: [],
        each_action: false,
        agent: null,
      },
    ]);
  });

  it("forces a sequence of actions", async () => {
    const futures: Futures[] = [];
    const { of } = open({ futures, answers: { "POST /replays/2/futures": accepting(futures) } });
    await openPanel();
    await userEvent.click(screen.getByRole("radio", { name: "Sequence" }));
    await press("Simulate");
    expect(await screen.findByText("Add at least one action.")).toBeTruthy();
    const times = screen.getByRole("textbox", { name: "Times" });
    await userEvent.clear(times);
    await userEvent.type(times, "201");
    expect(screen.getByText("Enter 1 to 200.")).toBeTruthy();
    await userEvent.clear(times);
    await userEvent.type(times, "2");
    await press("Add");
    expect(screen.getByRole("button", { name: "Remove NOOP × 2" })).toBeTruthy();
    await press("Simulate");
    await screen.findByText("The critic is too low.");
    expect(of("POST /replays/2/futures").at(-1)?.body).toMatchObject({
      first: ["NOOP", "NOOP"],
      each_action: false,
    });
  });

  it("lets the agent of another run act", async () => {
    const futures: Futures[] = [];
    const { of } = open({
      futures,
      answers: {
        "GET /runs": runListOf([aRun({ id: 3, name: "Other" })]),
        "GET /runs/1/checkpoints": [aCheckpoint(11, 1000)],
        "GET /runs/3/checkpoints": [aCheckpoint(31, 1000, { aliases: ["champion"] }), aCheckpoint(32, 2000)],
        "POST /replays/2/futures": accepting(futures, { agent_run_id: 3 }),
      },
    });
    await openPanel();
    await userEvent.click(screen.getByRole("radio", { name: "Another" }));
    await press("Remove run 1");
    await press("Simulate");
    expect(await screen.findByText("Pick a run.")).toBeTruthy();
    fireEvent.click(screen.getByRole("combobox", { name: "Pick a run" }));
    fireEvent.click(await screen.findByRole("option", { name: /^Other · / }));
    expect(of("GET /runs")[0]?.query.get("env")).toBe("ALE/Pong-v5");
    const checkpoint = screen.getByRole("combobox", { name: "Checkpoint" });
    for (const [option, sent] of [
      ["Newest", "newest"],
      [/^2.000 steps$/, 32],
      ["Alias champion", "champion"],
    ] as const) {
      await userEvent.selectOptions(checkpoint, await screen.findByRole("option", { name: option }));
      await press("Simulate");
      await waitFor(() =>
        expect(of("POST /replays/2/futures").at(-1)?.body).toMatchObject({
          agent: { run_id: 3, checkpoint: sent },
        }),
      );
    }
    expect(await screen.findByText("run 3 at 2 k steps")).toBeTruthy();
    expect(screen.getByText(/^V = 0.5. 8 futures by run 3 at 2 k steps average/)).toBeTruthy();
  });

  it("does not force actions that are numbers", async () => {
    const track = aTrack({
      head: { numbers_kind: "gaussian", action_names: ["hip"] },
      action: aTrack().picture.map(() => [0.5]),
      numbers: aTrack().picture.map(() => [0.5, 0.25]),
    });
    open({ track });
    await openPanel();
    expect(screen.getByText(/cannot be forced/)).toBeTruthy();
    expect(screen.queryByRole("radio", { name: "Sequence" })).toBeNull();
  });

  it("checks numbers before it sends them", async () => {
    const { of } = open();
    await openPanel();
    const count = screen.getByRole("textbox", { name: "Futures" });
    await userEvent.clear(count);
    await userEvent.type(count, "300");
    await press("Simulate");
    expect(await screen.findByText("Enter a whole number from 8 to 256.")).toBeTruthy();
    expect(of("POST /replays/2/futures")).toHaveLength(0);
  });

  it("sends the temperature and shows it in the result", async () => {
    const futures: Futures[] = [];
    const answers = { "POST /replays/2/futures": accepting(futures, { temperature: 2.5 }) };
    const { of } = open({ futures, answers });
    await openPanel();
    const temperature = screen.getByRole("textbox", { name: "Temperature" });
    await userEvent.clear(temperature);
    await press("Simulate");
    expect(await screen.findByText("Enter a number from 0.01 to 100.")).toBeTruthy();
    await userEvent.type(temperature, "2.5");
    await press("Simulate");
    expect(
      await button("Decision 3: mean 1.75 8 futures of up to 200 decisions, temperature 2.5"),
    ).toBeTruthy();
    expect(of("POST /replays/2/futures").at(-1)?.body).toMatchObject({ temperature: 2.5 });
  });

  it("shows why the server refuses", async () => {
    const reason = "Futures need the checkpoint at step 1000, which was deleted.";
    open({ answers: { "POST /replays/2/futures": refusal(409, reason) } });
    await openPanel();
    await press("Simulate");
    expect((await screen.findByRole("alert")).textContent).toBe(reason);
  });

  it("is closed by its button, which gives the focus back", async () => {
    open();
    await openPanel();
    await press("Close What if");
    expect(screen.queryByRole("region", { name: "What if" })).toBeNull();
    expect(document.activeElement).toBe(await button("What if…"));
  });
});

describe("a simulation", () => {
  it("shows its progress and can be cancelled", async () => {
    const futures: Futures[] = [];
    const running = { state: "running", document: null, done: 150, total: 600 } as const;
    const { of } = open({
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
    const { of } = open({ futures });
    await openPanel();
    await press("Decision 3: simulating 8 futures of up to 200 decisions");
    await screen.findByText(/^Simulating from decision 3/);
    expect(of("GET /futures/7")).toHaveLength(0);
    futures[0] = someFutures(7);
    expect(await screen.findByText("The critic is too low.", {}, { timeout: 5000 })).toBeTruthy();
    expect(of("GET /futures/7")).toHaveLength(1);
  });

  it("shows why it failed", async () => {
    const failure = { state: "failed", document: null, reason: "The checkpoint is damaged." } as const;
    open({ futures: [someFutures(7, failure)] });
    await openPanel();
    await press("Decision 3: failed 8 futures of up to 200 decisions");
    expect(await screen.findByText("The checkpoint is damaged.")).toBeTruthy();
    expect(screen.getByText("The simulation from decision 3 failed")).toBeTruthy();
  });

  it("leads back to its decision and lists its actions in order", async () => {
    open({ futures: [someFutures(7, { each_action: true })] });
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
    open({ futures: [someFutures(7, { document })] });
    await openPanel();
    await press("Decision 3: mean 1.75 8 futures of up to 200 decisions");
    expect(await screen.findByRole("columnheader", { name: "Q-value" })).toBeTruthy();
    for (const title of ["Discounted returns", "Score over time", "No life lost and not over"])
      expect(screen.getByText(title)).toBeTruthy();
  });

  it("is compared with another agent's in the same charts", async () => {
    const mean = { mean: 2.5, interval: [2, 3] as [number, number] };
    open({
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
      await screen.findByText("Run 3 at 2 k steps: 8 futures average 2.5 (95 % 2.0 to 3.0), V = 0.5."),
    ).toBeTruthy();
  });

  it("has videos that follow the replay from its decision", async () => {
    const videos = [
      { shows: "best" as const, future: 7, file: "future-best.mp4" },
      { shows: "ghosts" as const, future: null, file: "future-ghosts.mp4" },
    ];
    const stored = [
      { shows: "best" as const, file_id: 31 },
      { shows: "ghosts" as const, file_id: 32 },
    ];
    open({ futures: [someFutures(7, { videos: stored, document: aFuturesDocument({ videos }) })] });
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
    const { of } = open({
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

describe("kept games of the replay", () => {
  const kept = (id: number, points: number, agent_frames = 0) => ({
    id,
    env: "ALE/Pong-v5",
    score: 12,
    frames: 400,
    ended: "over",
    continued: { replay_id: 2, decision: 2, score: points, frames: 200, agent_frames },
    start_points: 0,
    created_at: "2026-01-01T10:30:00Z",
    film: "done",
    reason: null,
    traceback: null,
    file_id: 8,
    poster_file_id: 9,
  });

  it("appear next to the agent's futures of the same decision", async () => {
    const games = [kept(4, 3), kept(3, 1, 50)];
    const { of } = open({ futures: [someFutures(7)], answers: { "GET /kept-games": games } });
    await openPanel();
    const own = await screen.findByRole("region", { name: "Your games from this replay" });
    expect(of("GET /kept-games")[0]?.query.get("replay_id")).toBe("2");
    expect(await within(own).findByText(/^You: 3 \(best of 2\); agent from here: /)).toBeTruthy();
    expect(within(own).getAllByRole("listitem")).toHaveLength(2);
  });

  it("are not compared with futures of another decision", async () => {
    open({ futures: [someFutures(7, { decision: 1 })], answers: { "GET /kept-games": [kept(4, 3)] } });
    await openPanel();
    await screen.findByRole("region", { name: "Your games from this replay" });
    expect(screen.queryByText(/agent from here/)).toBeNull();
  });
});

describe("playing from here", () => {
  it("opens a game at the shown decision", async () => {
    const { router } = open();
    await screen.findByRole("slider", { name: "Moment of the replay" });
    show(8.5 / 20);
    await press("Play from here");
    expect(`${router.state.location.pathname}${router.state.location.search}`).toBe(
      "/replays/2/play?decision=2&t=0.425",
    );
  });

  it("is not possible if the actions are numbers", async () => {
    open({ track: aTrack({ head: { numbers_kind: "gaussian", action_names: ["hip"] } }) });
    await screen.findByRole("slider", { name: "Moment of the replay" });
    const opener = await button("Play from here");
    expect(opener.getAttribute("aria-disabled")).toBe("true");
  });
});
