import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { KeptGame, Review } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aDecision, aReview } from "@/testing/reviews";
import { serve } from "@/testing/server";
import { KeptGameReview } from "./KeptGameReview";

const KEPT: KeptGame = {
  id: 3,
  project: "Main",
  may_edit: true,
  env: "ALE/Pong-v5",
  score: -2,
  frames: 1200,
  ended: "over",
  continued: null,
  start_points: 100,
  why_no_start_points: null,
  created_at: "2026-01-01T10:30:00Z",
  film: "done",
  reason: null,
  traceback: null,
  file_id: 8,
  poster_file_id: 9,
};

const MISTAKE = aDecision({
  decision: 2,
  finding: "mistake",
  taken: "NOOP 1, RIGHT 3",
  better: "LEFT",
  e_value: 5000,
  loss: { count: 128, mean: 0.9, interval: [0.8, 1] },
});

function show(reviews: Review[], answers: Record<string, object> = {}) {
  const server = serve({ "GET /kept-games/3/reviews": reviews, ...answers });
  const seek = vi.fn();
  renderPage(<KeptGameReview kept={KEPT} show={seek} />, { at: "/games/pong", path: "/games/:slug" });
  return { server, seek };
}

describe("the review of a kept game", () => {
  it("needs an agent first", async () => {
    show([]);
    const button = await screen.findByRole("button", { name: "Review my game" });
    expect(button.hasAttribute("disabled")).toBe(true);
  });

  it("shows the moments of mistakes in the video", async () => {
    const { seek } = show([aReview([MISTAKE], { replay_id: null, kept_game_id: 3 })]);
    const mistake = await screen.findByRole("button", { name: /NOOP 1, RIGHT 3 instead of LEFT loses 0\.9/ });
    expect(screen.getByText("1 mistake in 1 reviewed decision.")).toBeTruthy();
    await userEvent.click(mistake);
    // Decision 2 of 4 is at 10 of 20 seconds, and the video begins half a second earlier.
    expect(seek).toHaveBeenCalledWith(9.5 / 20);
  });

  it("is continued by the same agent", async () => {
    const path = "POST /kept-games/3/reviews";
    const { server } = show([aReview([MISTAKE], { replay_id: null, kept_game_id: 3, run_id: 7 })], {
      [path]: {},
    });
    await userEvent.click(await screen.findByRole("button", { name: "Review 3 more decisions" }));
    expect(server.of(path)[0]?.body).toEqual({ run_id: 7, decisions: 61 });
  });
});
