import { screen, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { someFutures } from "@/testing/futures";
import { fakePlayback, openPanel, openReplay } from "@/testing/whatIf";

beforeEach(fakePlayback);

describe("kept games of the replay", () => {
  const kept = (id: number, points: number, agent_frames = 0) => ({
    id,
    env: "ALE/Pong-v5",
    score: 12,
    frames: 400,
    ended: "over",
    continued: { replay_id: 2, decision: 2, score: points, frames: 200, agent_frames },
    start_points: 0,
    why_no_start_points: null,
    created_at: "2026-01-01T10:30:00Z",
    film: "done",
    reason: null,
    traceback: null,
    file_id: 8,
    poster_file_id: 9,
  });

  it("appear next to the agent's futures of the same decision", async () => {
    const games = [kept(4, 3), kept(3, 1, 50)];
    const { of } = openReplay({ futures: [someFutures(7)], answers: { "GET /kept-games": games } });
    await openPanel();
    const own = await screen.findByRole("region", { name: "Your games from this replay" });
    expect(of("GET /kept-games")[0]?.query.get("replay_id")).toBe("2");
    expect(await within(own).findByText(/^You: 3 \(best of 2\); agent from here: /)).toBeTruthy();
    expect(within(own).getAllByRole("listitem")).toHaveLength(2);
  });

  it("are not compared with futures of another decision", async () => {
    openReplay({ futures: [someFutures(7, { decision: 1 })], answers: { "GET /kept-games": [kept(4, 3)] } });
    await openPanel();
    await screen.findByRole("region", { name: "Your games from this replay" });
    expect(screen.queryByText(/agent from here/)).toBeNull();
  });
});
