import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { StudyPreview, SuiteRequest } from "@/api/types";
import { anEnvironment, ATARI } from "@/testing/environments";
import { gamesOf } from "@/testing/games";
import { aPreset } from "@/testing/presets";
import { renderPage } from "@/testing/render";
import { type Asked, refusal, serve } from "@/testing/server";
import { aStudy } from "@/testing/studies";
import { aGameList } from "@/testing/suites";
import GamesPage from "./GamesPage";

const PREVIEW: StudyPreview = {
  points: 2,
  runs: 2,
  min_runs: 2,
  steps: 20_000_000,
  seconds: 7200,
  concurrent_runs: 1,
  unmeasured: [],
  estimated: [],
  confirm: null,
  refused: null,
};

async function open(preview: Partial<StudyPreview> = {}) {
  const server = serve({
    "GET /games": gamesOf([]),
    "GET /suites": [
      aGameList(),
      aGameList({ name: "atari-100k", title: "Atari 100k", preset: "paac-100k", total_steps: 100_000 }),
    ],
    "GET /presets": [
      aPreset("paac-sticky", { env: "ALE/Pong-v5" }),
      aPreset("paac-100k", { env: "ALE/Pong-v5" }),
      aPreset("paac-cartpole", { env: "CartPole-v1" }),
    ],
    "GET /environments": [
      anEnvironment("ALE/Pong-v5", { title: "Pong", family: ATARI }),
      anEnvironment("ALE/Breakout-v5", { title: "Breakout", family: ATARI }),
      anEnvironment("CartPole-v1"),
    ],
    "POST /suites/specification": ({ body }: Asked) =>
      (body as SuiteRequest).seeds === 13
        ? refusal(422, "13 seeds bring bad luck")
        : { name: "A suite", changes: body },
    "POST /studies/preview": { ...PREVIEW, ...preview },
    "POST /studies": aStudy({ id: 8 }),
  });
  renderPage(<GamesPage />, { at: "/games", path: "/games" });
  await userEvent.click(await screen.findByRole("button", { name: "Run a suite" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Run a suite of games" }));
  await dialog.findByRole("combobox", { name: "Games" });
  return { server, dialog };
}

const specified = (server: ReturnType<typeof serve>) => server.of("POST /suites/specification").at(-1)?.body;

describe("the dialog of a suite", () => {
  it("shows the cost of the first list, and starts it with one click", async () => {
    const { server, dialog } = await open();
    expect(await dialog.findByText(/2 runs, 20 M steps, about 2 h on 1 worker/)).toBeTruthy();
    expect(specified(server)).toEqual({
      games: "atari-2",
      preset: "paac-sticky",
      total_steps: 10_000_000,
      seeds: 1,
    });
    await userEvent.click(dialog.getByRole("button", { name: "Start 2 runs" }));
    await waitFor(() => expect(server.of("POST /studies")).toHaveLength(1));
    expect(server.of("POST /studies")[0]?.body).toMatchObject({ name: "A suite", confirm_steps: null });
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("takes preset and steps from the chosen list", async () => {
    const { server, dialog } = await open();
    await userEvent.click(dialog.getByRole("combobox", { name: "Games" }));
    await userEvent.click(await screen.findByRole("option", { name: "Atari 100k (2 games)" }));
    await waitFor(() =>
      expect(specified(server)).toEqual({
        games: "atari-100k",
        preset: "paac-100k",
        total_steps: 100_000,
        seeds: 1,
      }),
    );
  });

  it("runs a custom selection of Atari games", async () => {
    const { server, dialog } = await open();
    await userEvent.click(dialog.getByRole("combobox", { name: "Games" }));
    await userEvent.click(await screen.findByRole("option", { name: "Custom selection" }));
    const start = dialog.getByRole<HTMLButtonElement>("button", { name: /^Start/ });
    expect(start.disabled).toBe(true);
    await userEvent.click(dialog.getByRole("combobox", { name: "Custom selection" }));
    expect(screen.queryByRole("option", { name: "CartPole" })).toBeNull();
    await userEvent.click(await screen.findByRole("option", { name: "Breakout" }));
    await waitFor(() => expect(specified(server)).toMatchObject({ games: ["ALE/Breakout-v5"] }));
    await waitFor(() => expect(start.disabled).toBe(false));
  });

  it("asks for confirmation of an unknown duration", async () => {
    const { server, dialog } = await open({
      seconds: null,
      unmeasured: ["PAAC on Pong"],
      confirm: "the duration is unknown",
    });
    const box = await dialog.findByRole("checkbox");
    const start = dialog.getByRole<HTMLButtonElement>("button", { name: "Start 2 runs" });
    expect(start.disabled).toBe(true);
    await userEvent.click(box);
    await userEvent.click(start);
    await waitFor(() =>
      expect(server.of("POST /studies")[0]?.body).toMatchObject({ confirm_steps: 20_000_000 }),
    );
  });

  it("does not start a suite that is too large, and says why", async () => {
    const { dialog } = await open({ refused: "9,999 runs are too many" });
    expect(await dialog.findByText("Too large: 9,999 runs are too many.")).toBeTruthy();
    expect(dialog.getByRole<HTMLButtonElement>("button", { name: /^Start/ }).disabled).toBe(true);
  });

  it("shows why the server refuses a suite", async () => {
    const { dialog } = await open();
    await dialog.findByText(/20 M steps/);
    await userEvent.type(dialog.getByRole("textbox", { name: "Seeds per game" }), "3");
    expect((await dialog.findByRole("alert")).textContent).toContain("13 seeds bring bad luck");
    expect(dialog.getByRole<HTMLButtonElement>("button", { name: "Start runs" }).disabled).toBe(true);
  });
});
