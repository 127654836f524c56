import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import type { Futures } from "@/api/types";
import { aCheckpoint } from "@/testing/files";
import { aRun, runListOf } from "@/testing/runs";
import { refusal } from "@/testing/server";
import { aTrack } from "@/testing/tracks";
import { accepting, button, fakePlayback, openPanel, openReplay, press, show } from "@/testing/whatIf";

beforeEach(fakePlayback);

describe("the panel for futures", () => {
  it("is unavailable without a track", async () => {
    openReplay({ replay: { track_file_id: null } });
    const opener = await button("What if…");
    expect(opener.getAttribute("aria-disabled")).toBe("true");
    await userEvent.hover(opener);
    expect(await screen.findByText(/has no track/, { selector: "[role=tooltip]" })).toBeTruthy();
    await userEvent.click(opener);
    expect(screen.queryByRole("region", { name: "What if" })).toBeNull();
  });

  it("simulates from the shown decision and shows the result", async () => {
    const futures: Futures[] = [];
    const { of } = openReplay({ futures, answers: { "POST /replays/2/futures": accepting(futures) } });
    const panel = await openPanel();
    expect(document.activeElement).toBe(panel);
    show(0.42);
    expect(within(panel).getByRole("heading", { name: "What if… from decision 3" })).toBeTruthy();
    await press("Simulate");
    expect(await within(panel).findByText(/^V = 0.5. 8 futures average 1.8/)).toBeTruthy();
    expect(within(panel).getByText(/^The critic is too low if its estimates at the end/)).toBeTruthy();
    expect(of("POST /replays/2/futures").map(({ body }) => body)).toEqual([
      {
        decision: 2,
        futures: 64,
        horizon: 200,
        until: "horizon",
        temperature: 1,
        record_videos: true,
        first: [],
        each_action: false,
        agent: null,
      },
    ]);
  });

  it("forces a sequence of actions", async () => {
    const futures: Futures[] = [];
    const { of } = openReplay({ futures, answers: { "POST /replays/2/futures": accepting(futures) } });
    await openPanel();
    await userEvent.click(screen.getByRole("radio", { name: "Sequence" }));
    await press("Simulate");
    expect(await screen.findByText("Add at least one action.")).toBeTruthy();
    const times = screen.getByRole("textbox", { name: "Times" });
    await userEvent.clear(times);
    await userEvent.type(times, "201");
    expect(screen.getByText("Enter 1 to 200.")).toBeTruthy();
    await userEvent.clear(times);
    await userEvent.type(times, "2");
    await press("Add");
    expect(screen.getByRole("button", { name: "Remove NOOP × 2" })).toBeTruthy();
    await press("Simulate");
    await screen.findByText(/^The critic is too low if its estimates at the end/);
    expect(of("POST /replays/2/futures").at(-1)?.body).toMatchObject({
      first: ["NOOP", "NOOP"],
      each_action: false,
    });
  });

  it("lets the agent of another run act", async () => {
    const futures: Futures[] = [];
    const { of } = openReplay({
      futures,
      answers: {
        "GET /runs": runListOf([aRun({ id: 3, name: "Other" })]),
        "GET /runs/1/checkpoints": [aCheckpoint(11, 1000)],
        "GET /runs/3/checkpoints": [aCheckpoint(31, 1000, { aliases: ["champion"] }), aCheckpoint(32, 2000)],
        "POST /replays/2/futures": accepting(futures, { agent_run_id: 3 }),
      },
    });
    await openPanel();
    await userEvent.click(screen.getByRole("radio", { name: "Another" }));
    await press("Remove run 1");
    await press("Simulate");
    expect(await screen.findByText("Pick a run.")).toBeTruthy();
    fireEvent.click(screen.getByRole("combobox", { name: "Pick a run" }));
    fireEvent.click(await screen.findByRole("option", { name: /^Other · / }));
    expect(of("GET /runs")[0]?.query.get("env")).toBe("ALE/Pong-v5");
    const checkpoint = screen.getByRole("combobox", { name: "Checkpoint" });
    for (const [option, sent] of [
      ["Newest", "newest"],
      [/^2.000 steps$/, 32],
      ["Alias champion", "champion"],
    ] as const) {
      await userEvent.selectOptions(checkpoint, await screen.findByRole("option", { name: option }));
      await press("Simulate");
      await waitFor(() =>
        expect(of("POST /replays/2/futures").at(-1)?.body).toMatchObject({
          agent: { run_id: 3, checkpoint: sent },
        }),
      );
    }
    expect(await screen.findByText("run 3 at 2 k steps")).toBeTruthy();
    expect(screen.getByText(/^V = 0.5. 8 futures by run 3 at 2 k steps average/)).toBeTruthy();
  });

  it("does not force actions that are numbers", async () => {
    const track = aTrack({
      head: { numbers_kind: "gaussian", action_names: ["hip"] },
      action: aTrack().picture.map(() => [0.5]),
      numbers: aTrack().picture.map(() => [0.5, 0.25]),
    });
    openReplay({ track });
    await openPanel();
    expect(screen.getByText(/cannot be forced/)).toBeTruthy();
    expect(screen.queryByRole("radio", { name: "Sequence" })).toBeNull();
  });

  it("checks numbers before it sends them", async () => {
    const { of } = openReplay();
    await openPanel();
    const count = screen.getByRole("textbox", { name: "Futures" });
    await userEvent.clear(count);
    await userEvent.type(count, "300");
    await press("Simulate");
    expect(await screen.findByText("Enter a whole number from 8 to 256.")).toBeTruthy();
    expect(of("POST /replays/2/futures")).toHaveLength(0);
  });

  it("sends the temperature and shows it in the result", async () => {
    const futures: Futures[] = [];
    const answers = { "POST /replays/2/futures": accepting(futures, { temperature: 2.5 }) };
    const { of } = openReplay({ futures, answers });
    await openPanel();
    const temperature = screen.getByRole("textbox", { name: "Temperature" });
    await userEvent.clear(temperature);
    await press("Simulate");
    expect(await screen.findByText("Enter a number from 0.01 to 100.")).toBeTruthy();
    await userEvent.type(temperature, "2.5");
    await press("Simulate");
    expect(
      await button("Decision 3: mean 1.75 8 futures of up to 200 decisions, temperature 2.5"),
    ).toBeTruthy();
    expect(of("POST /replays/2/futures").at(-1)?.body).toMatchObject({ temperature: 2.5 });
  });

  it("shows why the server refuses", async () => {
    const reason = "Futures need the checkpoint at step 1000, which was deleted.";
    openReplay({ answers: { "POST /replays/2/futures": refusal(409, reason) } });
    await openPanel();
    await press("Simulate");
    expect((await screen.findByRole("alert")).textContent).toBe(reason);
  });

  it("is closed by its button, which gives the focus back", async () => {
    openReplay();
    await openPanel();
    await press("Close What if");
    expect(screen.queryByRole("region", { name: "What if" })).toBeNull();
    expect(document.activeElement).toBe(await button("What if…"));
  });
});
