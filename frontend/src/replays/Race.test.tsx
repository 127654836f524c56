import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { useLocation } from "react-router";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun, runListOf } from "@/testing/runs";
import { serve } from "@/testing/server";
import { ReplaysTab } from "./ReplaysTab";

// jsdom plays no videos.
beforeEach(() => {
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});

const [own, other] = [aRun(), aRun({ id: 2, name: "pong-2", method: "A3C" })];
const shown = () => [...document.querySelectorAll("video")].map((video) => video.getAttribute("aria-label"));
const Address = () => <span data-testid="address">{useLocation().search}</span>;

function open(at: string) {
  serve({
    "GET /runs": runListOf([own, other]),
    "GET /runs/1": own,
    "GET /runs/2": other,
    "GET /runs/1/replays": [aReplay(1, 1000), aReplay(2, 3000)],
    "GET /runs/2/replays": [aReplay(3, 1500, { run_id: 2 }), aReplay(4, 2500, { run_id: 2 })],
  });
  return renderPage(
    <>
      <ReplaysTab run={own} />
      <Address />
    </>,
    { at },
  );
}

describe("a race", () => {
  it("shows runs side by side at the last step that all have reached", async () => {
    open("/?against=2");
    expect(await screen.findByText("At 2.5 k steps of training")).toBeTruthy();
    expect(shown()).toEqual(["Replay at 1\u202f000 steps", "Replay at 2\u202f500 steps"]);
    expect(screen.getByRole("link", { name: /pong-2 #2 · A3C/ })).toBeTruthy();
  });

  it("names the other runs, even without a search", async () => {
    open("/?against=2");
    expect((await screen.findAllByText("pong-2 · A3C · 2")).length).toBeGreaterThan(0);
  });

  it("is stored in the URL, and names runs without a replay at this step", async () => {
    open("/?against=2&at=1000");
    expect(await screen.findByText("No replay at or before 1 k steps.")).toBeTruthy();
    expect(shown()).toEqual(["Replay at 1\u202f000 steps", "Replay at 1\u202f500 steps"]);
  });

  it("steps between the steps at which a run has a replay", async () => {
    open("/?against=2&at=2500");
    const slider = await screen.findByRole("slider", { name: "Step of training" });
    slider.focus();
    await userEvent.keyboard("{ArrowRight}");
    await waitFor(() => expect(screen.getByTestId("address").textContent).toContain("at=3000"));
    expect(shown()).toEqual(["Replay at 3\u202f000 steps", "Replay at 2\u202f500 steps"]);
  });

  it("shows only the run's replays after it is ended", async () => {
    open("/?against=2&at=1000");
    await userEvent.click(await screen.findByRole("button", { name: "End race" }));
    await waitFor(() => expect(screen.getByTestId("address").textContent).toBe(""));
    expect(await screen.findByText("2 replays, from 1 k steps to 3 k steps")).toBeTruthy();
  });
});
