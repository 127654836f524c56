import { act, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { vi } from "vitest";
import type { Futures, Replay } from "@/api/types";
import { ReplaysTab } from "@/replays/ReplaysTab";
import { aReplay } from "./files";
import { someFutures } from "./futures";
import { aPreview } from "./practices";
import { renderPage } from "./render";
import { aRun } from "./runs";
import { serve } from "./server";
import { aTrack } from "./tracks";
import { aWorker } from "./workers";

/** Fake the playback of videos, which jsdom lacks. */
export function fakePlayback() {
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
}

interface Scene {
  futures?: Futures[];
  replay?: Partial<Replay>;
  track?: object;
  answers?: Parameters<typeof serve>[0];
}

/** Open the replays of a run with these futures of replay 2. */
export function openReplay({ futures = [], replay = {}, track = aTrack(), answers = {} }: Scene = {}) {
  const server = serve({
    "GET /runs/1/replays": [aReplay(2, 2000, { track_file_id: 401, ...replay })],
    "GET /replays/2/track": track,
    "GET /replays/2/futures": () => futures,
    "GET /futures/7": () => futures.find(({ id }) => id === 7),
    "GET /workers": [aWorker("one")],
    "GET /kept-games": [],
    "GET /reviews/5/practices": [],
    "POST /reviews/5/practices/preview": aPreview(),
    ...answers,
  });
  return { ...server, ...renderPage(<ReplaysTab run={aRun()} />) };
}

export const button = (name: string) => screen.findByRole("button", { name });
export const press = async (name: string) => userEvent.click(await button(name));

/** Open the panel for futures. */
export async function openPanel() {
  await screen.findByRole("slider", { name: "Moment of the replay" });
  await press("What if…");
  return screen.findByRole("region", { name: "What if" });
}

/** Show the picture at a moment of the replay. */
export function show(seconds: number) {
  const player = document.querySelector("video") as HTMLVideoElement;
  player.currentTime = seconds;
  act(() => void fireEvent.timeUpdate(player));
}

/** Answer a request with futures that the list then has. */
export function accepting(futures: Futures[], changes: Partial<Futures> = {}) {
  return () => {
    const made = someFutures(7, changes);
    futures.unshift(made);
    return made;
  };
}
