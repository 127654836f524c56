import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { KeptGame } from "@/api/types";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { KeptGames } from "./KeptGames";

const kept = (changes: Partial<KeptGame> = {}): KeptGame => ({
  id: 3,
  project: "Main",
  may_edit: true,
  env: "ALE/Pong-v5",
  score: 21,
  frames: 3600,
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
  ...changes,
});

function show(games: KeptGame[], answers: Record<string, object> = {}) {
  const server = serve({ "GET /kept-games": games, ...answers });
  renderPage(<KeptGames env="ALE/Pong-v5" Review={({ kept }) => <p>Review of game {kept.id}</p>} />, {
    at: "/games/pong",
    path: "/games/:slug",
  });
  return server;
}

describe("kept games", () => {
  it("can be watched", async () => {
    show([kept()]);
    expect((await screen.findByText(/played to the end/)).textContent).toContain("21 points");
    await userEvent.click(screen.getByRole("button", { name: "Watch" }));
    expect(screen.getByLabelText("Video of Kept game 3").getAttribute("src")).toBe("/api/v1/files/8");
  });

  it("show why their video is not ready", async () => {
    const reason = "Waits for a review on worker w1.";
    show([kept({ film: "queued", reason, file_id: null, poster_file_id: null })]);
    expect(await screen.findByText(reason)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Watch" })).toBeNull();
  });

  it("can be saved as start points", async () => {
    const path = "POST /kept-games/3/start-points";
    const server = show([kept()], { [path]: { points: 100 } });
    await userEvent.click(await screen.findByRole("button", { name: "Keep as start points" }));
    expect(await screen.findByText("100 start points kept as Kept game 3")).toBeTruthy();
    expect(server.of(path)).toHaveLength(1);
  });

  it("are reviewed beside their video", async () => {
    show([kept()]);
    await userEvent.click(await screen.findByRole("button", { name: "Review" }));
    expect(screen.getByText("Review of game 3")).toBeTruthy();
    expect(screen.getByLabelText("Video of Kept game 3")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Review" }));
    expect(screen.queryByText("Review of game 3")).toBeNull();
  });

  it("say why a short game has no start points", async () => {
    const reason = "A game of 40 frames is too short for 100 start points. Keep a longer game.";
    show([kept({ why_no_start_points: reason })]);
    const button = await screen.findByRole("button", { name: "Keep as start points" });
    expect(button.getAttribute("aria-disabled")).toBe("true");
    await userEvent.hover(button);
    expect(await screen.findByText(reason)).toBeTruthy();
  });

  it("show numbers from the decision and no start points if they continue a replay", async () => {
    const continued = { replay_id: 2, decision: 130, score: 3, frames: 200, agent_frames: 50 };
    show([kept({ continued, start_points: 0 })]);
    const summary = await screen.findByText(/from decision 131/);
    expect(summary.textContent).toBe(
      "3 points in 200 frames from decision 131, played to the end, 25 % played by the agent",
    );
    expect(screen.queryByRole("button", { name: "Keep as start points" })).toBeNull();
  });

  it("are removed after a confirmation", async () => {
    const path = "DELETE /kept-games/3";
    const server = show([kept()], { [path]: {} });
    await userEvent.click(await screen.findByRole("button", { name: "Remove Kept game 3" }));
    expect(server.of(path)).toHaveLength(0);
    const dialog = await screen.findByRole("dialog");
    await userEvent.click(within(dialog).getByRole("button", { name: "Remove kept game" }));
    expect(await screen.findByText("Kept game 3 removed")).toBeTruthy();
    expect(server.of(path)).toHaveLength(1);
  });
});
