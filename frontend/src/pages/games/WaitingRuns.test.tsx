import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { WaitingRun } from "@/api/types";
import { anUnfinishedEvaluation, withEpisodes } from "@/testing/evaluations";
import { aGame, aWaitingEvaluation, aWaitingRun } from "@/testing/games";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import { aWorker } from "@/testing/workers";
import GamePage from "./GamePage";
import { WaitingRuns } from "./WaitingRuns";

const NO_WORKER = "No worker that takes jobs is connected: start one with `arcadia worker --jobs 1`.";

function open(waiting: WaitingRun[], more: Record<string, object> = {}) {
  const server = serve({ "GET /workers": [aWorker("one")], ...more });
  const game = aGame([], { waiting, waiting_total: waiting.length });
  return { server, ...renderPage(<WaitingRuns game={game} />) };
}

const evaluate = () => screen.getByRole("button", { name: "Evaluate new #9" });

describe("runs without a score", () => {
  it("show why an evaluation waits, with a link", async () => {
    open([aWaitingRun({ evaluation: aWaitingEvaluation({ reason: NO_WORKER }) })]);
    const table = within(await screen.findByRole("table"));
    expect(table.getByText("Waiting")).toBeTruthy();
    expect(table.getByText(/^No worker that takes jobs is connected/)).toBeTruthy();
    expect(table.getByText("arcadia worker --jobs 1").tagName).toBe("CODE");
    const link = table.getByRole("link", { name: "Evaluation by no-op-5min at 100 steps" });
    expect(link.getAttribute("href")).toBe("/runs/9/evaluations/3");
    expect(table.queryByRole("button")).toBeNull();
  });

  it("show the progress of an evaluation", async () => {
    const evaluation = aWaitingEvaluation({ state: "running", reason: null, done: 12 });
    open([aWaitingRun({ evaluation })]);
    expect(await screen.findByText("12 of 30 episodes")).toBeTruthy();
    expect(screen.queryByRole("button")).toBeNull();
  });

  it("show why an evaluation failed, and offer another", async () => {
    const reason = "The checkpoint is damaged.";
    const failed = aWaitingEvaluation({ state: "failed", reason, traceback: "Traceback: in play" });
    const { server } = open([aWaitingRun({ evaluation: failed })], {
      "POST /runs/9/evaluations": anUnfinishedEvaluation(4),
    });
    expect(await screen.findByText("Failed")).toBeTruthy();
    expect(screen.getByText("The checkpoint is damaged.")).toBeTruthy();
    expect(screen.getByText("Traceback: in play").closest("details")?.open).toBe(false);
    await userEvent.click(evaluate());
    await waitFor(() => expect(server.of("POST /runs/9/evaluations")).toHaveLength(1));
  });

  it("show after a request that no worker can play it", async () => {
    open([aWaitingRun()], {
      "POST /runs/9/evaluations": anUnfinishedEvaluation(3, { step: 100, reason: NO_WORKER }),
    });
    await userEvent.click(evaluate());
    const notice = await screen.findByText(/^Requested an evaluation by no-op-5min at 100 steps\./);
    expect(notice.textContent).toBe(
      "Requested an evaluation by no-op-5min at 100 steps. " +
        "No worker that takes jobs is connected: start one with arcadia worker --jobs 1.",
    );
  });

  it("show the server's reason for a refusal", async () => {
    open([aWaitingRun()], {
      "POST /runs/9/evaluations": refusal(409, "The checkpoint was deleted."),
    });
    await userEvent.click(evaluate());
    expect(await screen.findByText("The checkpoint was deleted.")).toBeTruthy();
  });

  const idle = { "GET /workers": [aWorker("one", { job_slots: 0 })] };

  it.each([
    ["can be evaluated", aWaitingRun()],
    ["waits", aWaitingRun({ has_checkpoint: false, evaluation: aWaitingEvaluation() })],
  ])("explain how to start a worker if none is connected and an evaluation %s", async (_, run) => {
    open([run], idle);
    expect(await screen.findByText("No worker for evaluations is connected")).toBeTruthy();
    expect(screen.getByText(/^arcadia worker --queue cpu/)).toBeTruthy();
  });

  it("do not mention workers if one is connected", async () => {
    const { server } = open([aWaitingRun()]);
    await waitFor(() => expect(server.of("GET /workers")).toHaveLength(1));
    expect(screen.queryByText(/No worker for evaluations/)).toBeNull();
  });

  it("do not fetch workers if nothing can be evaluated yet", async () => {
    const { server } = open([aWaitingRun({ has_checkpoint: false })], idle);
    expect(await screen.findByText("No checkpoint yet")).toBeTruthy();
    expect(server.of("GET /workers")).toHaveLength(0);
  });

  it("send one request even if the button is pressed several times", async () => {
    let asked = 0;
    const game = aGame([], { waiting: [aWaitingRun()], waiting_total: 1 });
    const server = serve({
      "GET /games/pong": () => (asked++ === 0 ? game : new Promise<object>(() => undefined)),
      "GET /start-sets": [],
      "GET /kept-games": [],
      "GET /workers": [aWorker("one")],
      "POST /runs/9/evaluations": withEpisodes(anUnfinishedEvaluation(3, { run_id: 9 })),
    });
    renderPage(<GamePage />, { at: "/games/pong", path: "/games/:slug" });
    const button = await screen.findByRole("button", { name: "Evaluate new #9" });
    await userEvent.click(button);
    await waitFor(() => expect(asked).toBe(2));
    expect(button).toHaveProperty("disabled", true);
    await userEvent.click(button);
    expect(server.of("POST /runs/9/evaluations")).toHaveLength(1);
  });
});
