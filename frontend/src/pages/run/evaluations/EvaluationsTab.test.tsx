import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Evaluation, EvaluationPage } from "@/api/types";
import { aJobNotice } from "@/testing/jobs";
import { anEvaluation, anUnfinishedEvaluation, evaluationPage } from "@/testing/evaluations";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { done, refusal, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { aWorker } from "@/testing/workers";
import { EvaluationList } from "./EvaluationsTab";

/** A query without a version of its document is fetched again at most once a second. */
const AFTER_REFETCH = { timeout: 5000 };

const LIST = "GET /runs/1/evaluations";

function open(page: EvaluationPage | Evaluation[], more: Parameters<typeof serve>[0] = {}, live = false) {
  const answers: Parameters<typeof serve>[0] = {
    [LIST]: Array.isArray(page) ? evaluationPage(page) : page,
    "GET /workers": [aWorker("one")],
    ...more,
  };
  const server = serve(answers);
  return { ...renderPage(<EvaluationList run={aRun()} />, { live }), server, answers };
}

const rows = async () => (await screen.findAllByRole("row")).slice(1).map((row) => within(row));

describe("the evaluation list", () => {
  it("shows scores, settings and the table of the normalized score", async () => {
    open([
      anEvaluation(2),
      anEvaluation(1, {
        step: 100_000,
        protocol: "no-op-30min",
        acting: { name: "epsilon-greedy", epsilon: 0.05 },
        origin: "schedule",
        human_normalized: null,
        normalized_by: null,
        not_normalized_because: "the papers publish none",
      }),
    ]);
    const [second, first] = await rows();
    const link = second?.getByRole("link", { name: "250 k steps" });
    expect(link?.getAttribute("href")).toBe("/runs/1/evaluations/2");
    for (const words of ["19.8", "19.2 to 20.3", "135 %", "Gorila (Nair et al. 2015), table 4", "manually"])
      expect(second?.getByText(words)).toBeTruthy();
    expect(second?.getByText("Done")).toBeTruthy();
    for (const words of ["ε-greedy (0.05)", "by schedule"]) expect(first?.getByText(words)).toBeTruthy();
    expect(first?.getByTitle("the papers publish none").textContent).toBe("–");
  });

  it("marks the best", async () => {
    const best = anEvaluation(1, { step: 100_000 });
    open(evaluationPage([anEvaluation(2), best], { best }));
    const [second, first] = await rows();
    expect(first?.getByText("best")).toBeTruthy();
    expect(second?.queryByText("best")).toBeNull();
  });

  it("marks superseded evaluations", async () => {
    open(evaluationPage([anEvaluation(2, { superseded: true }), anEvaluation(1)]));
    const [first, second] = await rows();
    expect(first?.getByText("superseded")).toBeTruthy();
    expect(second?.queryByText("superseded")).toBeNull();
  });

  it("says why one is queued and why one failed, with a collapsed traceback", async () => {
    const failed = {
      state: "failed",
      reason: "The screen differs.",
      traceback: "Traceback: in play",
    } as const;
    open([
      anUnfinishedEvaluation(2, { reason: "A worker is about to take it." }),
      anUnfinishedEvaluation(1, failed),
    ]);
    expect(await screen.findByText("A worker is about to take it.")).toBeTruthy();
    expect(screen.getByText("Waiting")).toBeTruthy();
    expect(screen.getByText("The screen differs.")).toBeTruthy();
    expect(screen.getByText("Traceback: in play").closest("details")?.open).toBe(false);
  });

  it("shows live progress and the score", async () => {
    fakeStreams();
    const playing = anUnfinishedEvaluation(1, { state: "running", done: 12, worker: "one" });
    const { answers } = open([playing], {}, true);
    expect(await screen.findByText("12 of 30 episodes")).toBeTruthy();
    await waitFor(() => stream().onopen?.());
    answers[LIST] = evaluationPage([{ ...playing, done: 13 }]);
    stream().say("job.changed", JSON.stringify(aJobNotice({ done: 13 })));
    expect(await screen.findByText("13 of 30 episodes", {}, AFTER_REFETCH)).toBeTruthy();
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("13");
    answers[LIST] = evaluationPage([anEvaluation(1)]);
    stream().say("job.changed", JSON.stringify(aJobNotice({ state: "done", done: 30 })));
    expect(await screen.findByText("19.8", {}, AFTER_REFETCH)).toBeTruthy();
    vi.unstubAllGlobals();
  });

  it("says what to do if no worker plays evaluations", async () => {
    const idle = { "GET /workers": [aWorker("one", { job_slots: 0 }), aWorker("two", { state: "gone" })] };
    open([anUnfinishedEvaluation(1)], idle);
    expect(await screen.findByText("No worker for evaluations is connected")).toBeTruthy();
    expect(screen.getByText(/^arcadia worker --queue cpu/)).toBeTruthy();
  });

  it("shows no notice about workers if one plays, or if nothing is queued", async () => {
    const { server, unmount } = open([anUnfinishedEvaluation(1)]);
    await rows();
    await waitFor(() => expect(server.of("GET /workers")).toHaveLength(1));
    expect(screen.queryByText(/No worker for evaluations/)).toBeNull();
    unmount();
    open([anEvaluation(1)], { "GET /workers": [] });
    await rows();
    expect(screen.queryByText(/No worker for evaluations/)).toBeNull();
  });

  it("loads more pages on request", async () => {
    const first = evaluationPage([anEvaluation(2)], { next_cursor: "2", total: 2 });
    const rest = evaluationPage([anEvaluation(1, { step: 100_000 })], { total: 2 });
    open(first, {
      [LIST]: ({ query }: { query: URLSearchParams }) => (query.get("cursor") === "2" ? rest : first),
    });
    await userEvent.click(await screen.findByRole("button", { name: "Show earlier" }));
    expect(await screen.findByRole("link", { name: "100 k steps" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Show earlier" })).toBeNull();
  });

  it("can be requested from the empty list", async () => {
    open([], { "GET /runs/1/evaluation-choices": refusal(500, "Away."), "GET /runs/1/checkpoints": [] });
    expect(await screen.findByText("No evaluations yet")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Evaluate checkpoint" }));
    expect(await screen.findByRole("dialog", { name: "Evaluate checkpoint" })).toBeTruthy();
  });

  it("shows a failed load", async () => {
    open([], { [LIST]: refusal(500, "The disk is unavailable.") });
    expect(await screen.findByText("The disk is unavailable.")).toBeTruthy();
  });
});

describe("the actions for an evaluation", () => {
  const NAME = "the evaluation by no-op-5min at 250 k steps";
  beforeEach(() => vi.restoreAllMocks());
  const menu = async () => userEvent.click(await screen.findByLabelText(`Actions for ${NAME}`));

  it("cancels a running evaluation", async () => {
    const cancelled = anUnfinishedEvaluation(1, { state: "cancelled" });
    const { server, answers } = open([anUnfinishedEvaluation(1, { state: "running" })], {
      "POST /evaluations/1/cancel": cancelled,
    });
    const button = await screen.findByRole("button", { name: `Cancel ${NAME}` });
    answers[LIST] = evaluationPage([cancelled]);
    await userEvent.click(button);
    expect(await screen.findByText("Cancelled")).toBeTruthy();
    expect(server.of("POST /evaluations/1/cancel")).toHaveLength(1);
    expect(screen.queryByRole("button", { name: `Cancel ${NAME}` })).toBeNull();
  });

  it("removes one after a confirmation that names it", async () => {
    const { server, answers } = open([anEvaluation(1)], { "DELETE /evaluations/1": done() });
    await menu();
    await userEvent.click(await screen.findByText("Remove evaluation…"));
    const dialog = within(await screen.findByRole("dialog", { name: "Remove evaluation?" }));
    expect(
      dialog.getByText(
        /^Evaluation by no-op-5min at 250 k steps, 30 episodes, score 19.8 \(95 % 19.2 to 20.3\):/,
      ),
    ).toBeTruthy();
    expect(server.of("DELETE /evaluations/1")).toHaveLength(0);
    answers[LIST] = evaluationPage([]);
    await userEvent.click(dialog.getByRole("button", { name: "Remove evaluation" }));
    expect(await screen.findByText("No evaluations yet")).toBeTruthy();
    expect(server.of("DELETE /evaluations/1")).toHaveLength(1);
  });

  it("exports all evaluations as one table", async () => {
    open([anEvaluation(1)]);
    const save = await screen.findByRole("link", { name: "Download scores (CSV)" });
    expect(save.getAttribute("href")).toBe("/api/v1/export/runs/1/evaluations.csv");
  });

  it("exports the episodes of a finished evaluation", async () => {
    open([anEvaluation(1)]);
    await menu();
    const item = await screen.findByText("Export all episodes (CSV)");
    expect(item.closest("a")?.getAttribute("href")).toBe("/api/v1/export/evaluations/1.csv");
  });
});
