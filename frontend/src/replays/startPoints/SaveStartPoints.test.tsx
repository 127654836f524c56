import { act, fireEvent, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { EnvironmentFamily, SavedStartPoints } from "@/api/types";
import { QUEUED_JOB } from "@/testing/jobs";
import { ATARI, anEnvironment, anEnvironmentFamily } from "@/testing/environments";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { aTrack } from "@/testing/tracks";
import { ReplaysTab } from "../ReplaysTab";

// jsdom plays no videos.
beforeEach(() => {
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});

const START = "POST /replays/2/start-points";
const STATE = "GET /replays/2/start-points/7";
const OPENER = "Save as start points…";

const points = (changes: Partial<SavedStartPoints> = {}): SavedStartPoints => ({
  ...QUEUED_JOB,
  id: 7,
  replay_id: 2,
  name: "rally",
  reason: "No worker that takes jobs is connected.",
  total: 1,
  start_set_id: null,
  ...changes,
});

interface Scene {
  family?: EnvironmentFamily;
  tracked?: boolean;
  answers?: Parameters<typeof serve>[0];
}

function open({ family = ATARI, tracked = true, answers = {} }: Scene = {}) {
  const server = serve({
    "GET /environments": [anEnvironment("ALE/Pong-v5", { family })],
    "GET /runs/1/replays": [aReplay(2, 2000, { track_file_id: tracked ? 401 : null })],
    "GET /replays/2/track": aTrack(),
    ...answers,
  });
  return { ...server, ...renderPage(<ReplaysTab run={aRun()} />) };
}

/** Open the dialog at the third decision. */
async function openDialog() {
  await screen.findByRole("slider", { name: "Moment of the replay" });
  const player = document.querySelector("video") as HTMLVideoElement;
  player.currentTime = 0.42;
  act(() => void fireEvent.timeUpdate(player));
  await userEvent.click(await screen.findByRole("button", { name: OPENER }));
  return screen.findByRole("dialog", { name: "Save as start points" });
}

const press = async (dialog: HTMLElement, name: string) =>
  userEvent.click(within(dialog).getByRole("button", { name }));

async function type(dialog: HTMLElement, label: string, text: string) {
  const field = within(dialog).getByRole("textbox", { name: label });
  await userEvent.clear(field);
  if (text) await userEvent.type(field, text);
}

describe("saving start points", () => {
  it("saves the shown decision once a worker has repeated the episode", async () => {
    let finish = (_: SavedStartPoints) => {};
    const ended = new Promise<SavedStartPoints>((resolve) => (finish = resolve));
    const { of } = open({ answers: { [START]: points(), [STATE]: () => ended } });
    const dialog = await openDialog();
    await type(dialog, "Name", " rally ");
    await press(dialog, "Save");
    expect(await within(dialog).findByText("No worker that takes jobs is connected.")).toBeTruthy();
    expect(of(START).map(({ body }) => body)).toEqual([{ name: "rally", decision: 2, every: null }]);
    finish(points({ state: "done", reason: null, start_set_id: 3 }));
    expect(await screen.findByText("Saved 1 start point as rally.")).toBeTruthy();
    expect(of(STATE)[0]?.query.get("wait")).toBe("finished");
  });

  it("saves every k-th decision around it", async () => {
    const { of } = open({ answers: { [START]: points({ state: "done", total: 4 }) } });
    const dialog = await openDialog();
    await userEvent.click(within(dialog).getByRole("radio", { name: "Whole episode" }));
    await type(dialog, "Decisions between points", "0");
    await press(dialog, "Save");
    expect(within(dialog).getByText("Enter a whole number of decisions, 1 or more.")).toBeTruthy();
    await type(dialog, "Decisions between points", "2");
    expect(within(dialog).getByText(/^5 points before and after decision 3/)).toBeTruthy();
    await press(dialog, "Save");
    expect(await screen.findByText("Saved 4 start points as rally.")).toBeTruthy();
    expect(of(START).map(({ body }) => body)).toEqual([
      { name: "Replay 2, decision 3", decision: 2, every: 2 },
    ]);
  });

  it("shows why it was refused or has failed, and can be repeated", async () => {
    const message = "Pong already has a start set named 'rally'. Choose another name.";
    let answer: object = refusal(409, message);
    open({ answers: { [START]: () => answer } });
    const dialog = await openDialog();
    await type(dialog, "Name", "");
    await press(dialog, "Save");
    expect(within(dialog).getByText("Enter a name.")).toBeTruthy();
    await type(dialog, "Name", "rally");
    await press(dialog, "Save");
    expect(await within(dialog).findByText(message)).toBeTruthy();
    answer = points({ state: "failed", reason: "the episode ended here" });
    await press(dialog, "Save");
    expect(await within(dialog).findByText("The start points could not be saved.")).toBeTruthy();
    expect(within(dialog).getByText("the episode ended here")).toBeTruthy();
    expect(within(dialog).getByRole("button", { name: "Save" })).toBeTruthy();
  });

  it("is not possible without a track", async () => {
    open({ tracked: false });
    const opener = await screen.findByRole("button", { name: OPENER });
    expect(opener.getAttribute("aria-disabled")).toBe("true");
  });

  it("is not offered for environments without start points", async () => {
    open({ family: anEnvironmentFamily() });
    await screen.findByRole("button", { name: "Play from here" });
    expect(screen.queryByRole("button", { name: OPENER })).toBeNull();
  });
});
