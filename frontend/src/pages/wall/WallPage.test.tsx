import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { listOf, serve } from "@/testing/server";
import WallPage from "./WallPage";

describe("the wall", () => {
  it("plays the newest replay of each run that is trained, silently, again and again", async () => {
    const server = serve({
      "GET /runs": listOf([
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
    expect(second.getByText(/first pictures come/)).toBeTruthy();
    expect(screen.getByRole("heading", { name: "2 runs being trained" })).toBeTruthy();
    expect(server.of("GET /runs")[0]?.query.getAll("state")).toEqual(["starting", "running"]);
  });

  it("says how many more are trained than it shows", async () => {
    serve({ "GET /runs": listOf([aRun({ id: 1 })], { total: 150 }), "GET /runs/1/replays": [] });
    renderPage(<WallPage />);
    const told = "150 runs being trained, the first 1 of them here";
    expect(await screen.findByRole("heading", { name: told })).toBeTruthy();
  });

  it("is walked with the arrows", async () => {
    serve({
      "GET /runs": listOf([aRun({ id: 1, name: "First" }), aRun({ id: 2, name: "Second" })]),
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

  it("says what would be here when nothing is trained", async () => {
    serve({ "GET /runs": listOf([]) });
    renderPage(<WallPage />);
    await waitFor(() => expect(screen.getByText("Nothing is being trained now")).toBeTruthy());
    expect(screen.getByRole("link", { name: "Launch a run" })).toBeTruthy();
  });
});
