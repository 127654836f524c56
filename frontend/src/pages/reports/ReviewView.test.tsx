import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { ReportReview } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aVerdict } from "@/testing/practices";
import { aReport } from "@/testing/reports";
import { aDecision, aReview } from "@/testing/reviews";
import { serve } from "@/testing/server";
import ReportPage from "./ReportPage";

const MISTAKE = aDecision({
  decision: 2,
  finding: "mistake",
  better: "DOWN",
  loss: { count: 128, mean: 1.74, interval: [1.2, 1.9] },
});

const REVIEW: ReportReview = {
  run_id: 1,
  run_name: "Rally",
  step: 2000,
  episode_return: -3,
  replay_id: 7,
  document: aReview([MISTAKE, aDecision({ decision: 0 })]).document as ReportReview["document"],
};

function open(answer: object) {
  serve({
    "GET /reports/3": aReport({ blocks: [{ kind: "review", replay: 7, caption: "Where it lost" }] }),
    "POST /reports/preview": answer,
  });
  renderPage(<ReportPage />, { at: "/reports/3", path: "/reports/:id" });
}

describe("a review in a report", () => {
  it("shows marks, losses and mistakes, and leads to the replay", async () => {
    open({ review: REVIEW });
    const block = within(await screen.findByRole("region", { name: "Where it lost" }));
    expect(await block.findByText("1 mistake in 2 reviewed decisions.")).toBeTruthy();
    expect(block.getByRole("group", { name: "Reviewed decisions" }).children).toHaveLength(2);
    expect(block.getByText("up to 1.74")).toBeTruthy();
    const mistakes = within(block.getByRole("list", { name: "Mistakes" })).getAllByRole("listitem");
    expect(mistakes.map(({ textContent }) => textContent)).toEqual([
      "Decision 3: UP instead of DOWN loses 1.74 (95 % 1.20 to 1.90).",
    ]);
    expect(block.getByRole("link").getAttribute("href")).toBe("/runs/1/replays?replays=7&review=1");
  });

  it("says why it cannot be shown", async () => {
    open({ problem: "Replay 7 has no review yet. Choose Review below the replay." });
    expect(await screen.findByText(/^This review cannot be shown: Replay 7 has no review yet/)).toBeTruthy();
  });
});

describe("a practice in a report", () => {
  it("shows both verdicts, and leads to the review", async () => {
    serve({
      "GET /reports/3": aReport({
        blocks: [{ kind: "practice", replay: 7, caption: "What practice changed" }],
      }),
      "POST /reports/preview": {
        practice: { run_id: 1, run_name: "Rally", step: 2000, replay_id: 7, document: aVerdict() },
      },
    });
    renderPage(<ReportPage />, { at: "/reports/3", path: "/reports/:id" });
    const block = within(await screen.findByRole("region", { name: "What practice changed" }));
    expect(
      (await block.findByRole("region", { name: "Did these mistakes become rarer?" })).textContent,
    ).toContain("This agent makes fewer of these mistakes than its control");
    expect(block.getByRole("link", { name: "Rally #1 at 2 k steps" }).getAttribute("href")).toBe(
      "/runs/1/replays?replays=7&review=1",
    );
  });
});
