import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun, runListOf } from "@/testing/runs";
import { serve } from "@/testing/server";
import WallPage from "./WallPage";

describe("the wall", () => {
  it("loops the newest replay of each training run without sound", async () => {
    const server = serve({
      "GET /runs": runListOf([
        aRun({ id: 1, name: "First" }),
        aRun({ id: 2, name: "Second", poster_file_id: null }),
      ]),
      "GET /runs/1/replays": [aReplay(1, 1000), aReplay(2, 9000), { ...aReplay(3, 20_000), file_id: null }],
      "GET /runs/2/replays": [],
    });
    renderPage(<WallPage />);
    const film = await screen.findByLabelText<HTMLVideoElement>("Newest replay of First");
    expect([film.muted, film.loop, film.autoplay]).toEqual([true, true, true]);
    const first = within(screen.getByRole("link", { name: /First/ }));
    expect(first.getByText("played at 9 k steps")).toBeTruthy();
    const second = within(screen.getByRole("link", { name: /Second/ }));
    expect(second.getByText(/first replay comes/)).toBeTruthy();
    expect(screen.getByRole("heading", { name: "2 runs training" })).toBeTruthy();
    expect(server.of("GET /runs")[0]?.query.getAll("state")).toEqual(["starting", "running"]);
  });

  it("shows how many runs train in total", async () => {
    serve({ "GET /runs": runListOf([aRun({ id: 1 })], { total: 150 }), "GET /runs/1/replays": [] });
    renderPage(<WallPage />);
    const text = "150 runs training, first 1 shown";
    expect(await screen.findByRole("heading", { name: text })).toBeTruthy();
  });

  it("is navigated with the arrow keys", async () => {
    serve({
      "GET /runs": runListOf([aRun({ id: 1, name: "First" }), aRun({ id: 2, name: "Second" })]),
      "GET /runs/1/replays": [],
      "GET /runs/2/replays": [],
    });
    renderPage(<WallPage />);
    const links = await screen.findAllByRole("link");
    for (const place of [0, 1, 0]) {
      await userEvent.keyboard("{ArrowRight}");
      expect(document.activeElement).toBe(links[place]);
    }
    await userEvent.keyboard("{ArrowLeft}");
    expect(document.activeElement).toBe(links[1]);
  });

  it("explains itself if no runs are training", async () => {
    serve({ "GET /runs": runListOf([]) });
    renderPage(<WallPage />);
    await waitFor(() => expect(screen.getByText("No runs are training")).toBeTruthy());
    expect(screen.getByRole("link", { name: "Launch run" })).toBeTruthy();
  });
});
