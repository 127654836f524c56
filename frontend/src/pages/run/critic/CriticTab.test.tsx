import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { CalibrationWithDocument, Recording } from "@/api/types";
import { QUEUED_JOB } from "@/testing/jobs";
import { aCalibration, anUnfinishedCalibration, withDocument } from "@/testing/calibrations";
import { aCheckpoint, aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { done, refusal, serve } from "@/testing/server";
import { aTrack } from "@/testing/tracks";
import { aWorker } from "@/testing/workers";
import { CriticTab } from "./CriticTab";

const LIST = "GET /runs/1/calibrations";
const RECORD = "POST /runs/1/recordings";

function open(item: string, answers: Parameters<typeof serve>[0]) {
  const server = serve({
    "GET /workers": [aWorker("one")],
    "GET /runs/1/checkpoints": [aCheckpoint(7, 250_000)],
    "GET /runs/1/recordings": [],
    "GET /runs/1/replays": [],
    [LIST]: [],
    ...answers,
  });
  const at = `/runs/1/critic${item && `/${item}`}`;
  const routes = [{ path: "/runs/1/replays", element: "The replays" }];
  return {
    ...renderPage(<CriticTab run={aRun()} />, { at, path: "/runs/:id/:tab?/:item?", routes }),
    server,
  };
}

const openOne = (calibration: CalibrationWithDocument, answers: Parameters<typeof serve>[0] = {}) =>
  open("5", { "GET /calibrations/5": calibration, ...answers });

const resultText = async () => (await screen.findByRole("region", { name: "Result" })).textContent;

describe("the list of calibrations", () => {
  it("shows the errors of each checkpoint, and the newest in words", async () => {
    open("", {
      [LIST]: [aCalibration(2), anUnfinishedCalibration(1, { reason: "A worker is about to take it." })],
    });
    const [newest, waiting] = (await screen.findAllByRole("row")).slice(1).map((row) => within(row));
    expect(newest?.getByRole("link", { name: "250 k steps" }).getAttribute("href")).toBe("/runs/1/critic/2");
    for (const words of ["0.21", "0.10 to 0.32", "0.4", "0.83", "0.020 to 0.080", "Done"])
      expect(newest?.getByText(words)).toBeTruthy();
    expect(waiting?.getByText("Waiting")).toBeTruthy();
    expect(screen.getByText("A worker is about to take it.")).toBeTruthy();
    expect(screen.getByText(/^At 250 k steps: The critic is 0.21 too high on average/)).toBeTruthy();
  });

  it("requests a calibration and opens it", async () => {
    const { server, router } = open("", {
      "POST /runs/1/calibrations": withDocument(anUnfinishedCalibration(9)),
      "GET /calibrations/9": { ...anUnfinishedCalibration(9), document: null },
    });
    await userEvent.click(await screen.findByRole("button", { name: "Calibrate critic" }));
    const form = within(await screen.findByRole("dialog"));
    const futures = await form.findByLabelText("Futures");
    await userEvent.clear(futures);
    await userEvent.type(futures, "4");
    await userEvent.click(form.getByRole("button", { name: "Calibrate" }));
    expect(await form.findByText("Enter a whole number from 8 to 256.")).toBeTruthy();
    await userEvent.type(futures, "0");
    await userEvent.click(form.getByRole("checkbox", { name: "Measure the regret of the chosen actions" }));
    await userEvent.click(form.getByRole("button", { name: "Calibrate" }));
    expect(await screen.findByRole("heading", { name: "Critic at 250 k steps" })).toBeTruthy();
    expect(router.state.location.pathname).toBe("/runs/1/critic/9");
    expect(server.of("POST /runs/1/calibrations").map(({ body }) => body)).toEqual([
      {
        ...{ checkpoint: "newest", episodes: 5, every: null, futures: 40, horizon: 200, seed: 1 },
        measure_regret: false,
      },
    ]);
  });

  it("says why a request is refused", async () => {
    const reason = "Run 1 already has 20 unfinished calibrations.";
    open("", { "POST /runs/1/calibrations": refusal(409, reason) });
    await userEvent.click(await screen.findByRole("button", { name: "Calibrate critic" }));
    await userEvent.click(await screen.findByRole("button", { name: "Calibrate" }));
    expect(await screen.findByText(reason)).toBeTruthy();
  });
});

describe("the page of a calibration", () => {
  it("says how wrong the critic is", async () => {
    openOne(withDocument(aCalibration(5)));
    const text = await resultText();
    for (const words of [
      "The critic is 0.21 too high on average (95 % 0.10 to 0.32).",
      "If all values are wrong by the same amount, it is 0.24.",
      "A single value is off by 0.4 (RMSE).",
      "The correlation of values and returns is 0.83 (95 % 0.70 to 0.95).",
      "Skill against always predicting the mean return: 0.60 (95 % 0.40 to 0.80)",
      "The chosen action loses 0.020 to 0.080 on average against the best (95 %).",
    ])
      expect(text).toContain(words);
    const settings = screen.getByRole("region", { name: "Calibration settings" }).textContent;
    expect(settings).toContain("5 episodes, every 55th decision, 16 futures of up to 200 decisions");
    expect(settings).toContain("γ = 0.99, of clipped rewards");
  });

  it("says when nothing is clearly wrong, and what is not known", async () => {
    openOne(
      withDocument(aCalibration(5), {
        bias: -0.02,
        bias_interval: [-0.1, 0.06],
        correlation: null,
        regret: null,
      }),
    );
    const text = await resultText();
    for (const words of [
      "No bias of the critic is shown: it is −0.02 on average (95 % −0.10 to 0.06).",
      "There is no correlation, because the values or the returns are all equal.",
      "The regret was not measured.",
    ])
      expect(text).toContain(words);
  });

  it("says a critic that is too low is too low", async () => {
    openOne(withDocument(aCalibration(5), { bias: -14.3, bias_interval: [-16.4, -12.2] }));
    expect(await resultText()).toContain("The critic is 14.3 too low on average (95 % 12.2 to 16.4).");
  });

  it("is calibrating before the number of its decisions is known", async () => {
    openOne({ ...anUnfinishedCalibration(5, { state: "running", total: 0 }), document: null });
    expect(await screen.findByText("Calibrating")).toBeTruthy();
  });

  it("shows progress while decisions are judged", async () => {
    openOne({ ...anUnfinishedCalibration(5, { state: "running", done: 4 }), document: null });
    expect(await screen.findByText("4 of 40 decisions")).toBeTruthy();
    expect(screen.queryByRole("region", { name: "Result" })).toBeNull();
  });

  it("records the episode of a bad moment, and opens it at the decision", async () => {
    const recording: Recording = {
      ...QUEUED_JOB,
      id: 3,
      run_id: 1,
      checkpoint_id: 7,
      step: 250_000,
      protocol: "no-op-5min",
      seed: 1,
      episode: 3,
      replay_id: null,
    };
    const answers: Parameters<typeof serve>[0] = {
      [RECORD]: recording,
      "GET /replays/11/track": aTrack({ picture: Array.from({ length: 60 }, (_, decision) => decision * 2) }),
    };
    const calibration = withDocument(aCalibration(5));
    const { server, router, client } = openOne(calibration, answers);
    await userEvent.click(await screen.findByRole("button", { name: "Record decision 55 of episode 3" }));
    expect(server.of(RECORD).map(({ body }) => body)).toEqual([
      { checkpoint: 7, protocol: "no-op-5min", seed: 1, episode: 3 },
    ]);
    serve({
      ...answers,
      "GET /calibrations/5": calibration,
      "GET /runs/1/recordings": [{ ...recording, state: "done", replay_id: 11 }],
      "GET /runs/1/replays": [aReplay(11, 250_000)],
    });
    await client.invalidateQueries();
    await userEvent.click(await screen.findByRole("button", { name: "Watch decision 55 of episode 3" }));
    expect(await screen.findByText("The replays")).toBeTruthy();
    // The middle of picture 108 at 20 pictures per second.
    expect(router.state.location.search).toBe("?replays=11&t=5.425");
  });

  it("can be removed", async () => {
    const { router } = openOne(withDocument(aCalibration(5)), { "DELETE /calibrations/5": done() });
    await userEvent.click(await screen.findByLabelText("Actions for the calibration at 250 k steps"));
    await userEvent.click(await screen.findByText("Remove calibration…"));
    await userEvent.click(await screen.findByRole("button", { name: "Remove calibration" }));
    expect(await screen.findByText("No calibrations yet")).toBeTruthy();
    expect(router.state.location.pathname).toBe("/runs/1/critic");
  });

  it.each(["400", "x"])("is not found at %s", async (item) => {
    open(item, {});
    expect(await screen.findByText(`There is no calibration ${item}`)).toBeTruthy();
  });

  it("leads to its run", async () => {
    openOne(withDocument(aCalibration(5, { run_id: 2 })));
    expect(await screen.findByText("Calibration 5 belongs to another run")).toBeTruthy();
    const link = screen.getByRole("link", { name: "Open it in run 2" });
    expect(link.getAttribute("href")).toBe("/runs/2/critic/5");
  });
});
