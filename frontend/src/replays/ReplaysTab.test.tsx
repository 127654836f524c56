import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Run, Replay } from "@/api/types";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { ReplaysTab } from "./ReplaysTab";

// jsdom plays no videos.
beforeEach(() => {
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});

function open(replays: Replay[], run: Run = aRun(), at = "/") {
  const answers = { "GET /runs/1/replays": replays, "GET /runs/1/checkpoints": [] };
  const server = serve(answers);
  const page = renderPage(<ReplaysTab run={run} />, { at });
  async function record(next: Replay[]) {
    answers["GET /runs/1/replays"] = next;
    await page.client.invalidateQueries();
  }
  return { ...page, server, record };
}

const THREE = [aReplay(3, 3000), aReplay(1, 1000), aReplay(2, 2000)];
const players = () => [...document.querySelectorAll("video")];
const shown = () => players().map((player) => player.getAttribute("aria-label"));
const replays = () => screen.findByRole("group", { name: /^Replays; arrow keys/ });

describe("the replays of a run", () => {
  it("start with the newest and show the range of steps", async () => {
    open(THREE);
    await replays();
    expect(shown()).toEqual(["Replay at 3\u202f000 steps"]);
    expect(screen.getByText("3 replays, from 1 k steps to 3 k steps")).toBeTruthy();
    expect(screen.getByText("return 3")).toBeTruthy();
    expect(screen.getByText("600 steps, 20 s")).toBeTruthy();
  });

  it("fetch no other runs before a search", async () => {
    const { server } = open(THREE);
    await replays();
    expect(server.of("GET /runs")).toEqual([]);
    await userEvent.click(screen.getByRole("combobox", { name: "Race with" }));
    await waitFor(() => expect(server.of("GET /runs")).toHaveLength(1));
  });

  it("are selected with the arrow keys, up to the first and the newest", async () => {
    open(THREE);
    const group = await replays();
    group.focus();
    await userEvent.keyboard("{ArrowLeft}");
    expect(shown()).toEqual(["Replay at 2\u202f000 steps"]);
    await userEvent.keyboard("{ArrowLeft}{ArrowLeft}{ArrowLeft}");
    expect(shown()).toEqual(["Replay at 1\u202f000 steps"]);
    await userEvent.keyboard("{ArrowRight}");
    expect(shown()).toEqual(["Replay at 2\u202f000 steps"]);
  });

  it("can all be selected with the arrow keys of the slider, including two of the same step", async () => {
    open([aReplay(1, 1000), aReplay(2, 2000), aReplay(3, 2000), aReplay(4, 3000)], aRun(), "/?replays=1");
    await replays();
    screen.getByRole("slider", { name: "Checkpoint shown" }).focus();
    const pressed = () => screen.getAllByRole("button", { pressed: true }).map(({ title }) => title);
    const seen = [];
    for (let key = 0; key < 3; key += 1) {
      await userEvent.keyboard("{ArrowRight}");
      seen.push(...pressed());
    }
    expect(seen).toEqual([2, 3, 4].map((id) => expect.stringContaining(`return ${id}`)));
  });

  it("are shown side by side, from the first to the newest", async () => {
    open(THREE);
    await replays();
    await userEvent.click(screen.getByLabelText("3 side by side"));
    expect(shown()).toEqual([1, 2, 3].map((step) => `Replay at ${step}\u202f000 steps`));
    await userEvent.click(screen.getByLabelText("One"));
    expect(shown()).toEqual(["Replay at 3\u202f000 steps"]);
  });

  it("are stored in the URL, so that a link shows the same ones", async () => {
    const { router, unmount } = open(THREE, aRun(), "/?smoothing=0.2");
    await replays();
    await userEvent.click(screen.getByLabelText("2 side by side"));
    const { search } = router.state.location;
    expect(new URLSearchParams(search).get("replays")).toBe("1,newest");
    expect(new URLSearchParams(search).get("smoothing")).toBe("0.2");
    unmount();
    open(THREE, aRun(), `/${search}`);
    await replays();
    expect(shown()).toEqual([1, 3].map((step) => `Replay at ${step}\u202f000 steps`));
  });

  it("start with the newest if the replay in the URL no longer exists", async () => {
    open(THREE, aRun(), "/?replays=99");
    await replays();
    expect(shown()).toEqual(["Replay at 3\u202f000 steps"]);
  });

  it("are selected by a click on their pictures", async () => {
    open(THREE);
    await replays();
    const picture = screen.getByTitle("1 k steps, return 1");
    await userEvent.click(picture);
    expect(shown()).toEqual(["Replay at 1\u202f000 steps"]);
    expect(picture.getAttribute("aria-pressed")).toBe("true");
  });

  it("do not change on arrow keys in a dialog", async () => {
    open(THREE);
    await replays();
    await userEvent.click(screen.getByRole("button", { name: "Download" }));
    await userEvent.click(await screen.findByText("Add to report…"));
    (await screen.findByRole("button", { name: "Close" })).focus();
    await userEvent.keyboard("{ArrowLeft}");
    expect(shown()).toEqual(["Replay at 3\u202f000 steps"]);
  });

  it("follow the newest while the run trains", async () => {
    const { record } = open(THREE);
    await replays();
    await record([...THREE, aReplay(4, 4000)]);
    await waitFor(() => expect(shown()).toEqual(["Replay at 4\u202f000 steps"]));
  });

  it("keep the selected replay when a newer one arrives", async () => {
    const { record } = open(THREE);
    (await replays()).focus();
    await userEvent.keyboard("{ArrowLeft}");
    await record([...THREE, aReplay(4, 4000)]);
    await screen.findByText("4 replays, from 1 k steps to 4 k steps");
    expect(shown()).toEqual(["Replay at 2\u202f000 steps"]);
  });

  it("keep the selected replay when earlier ones are added and deleted", async () => {
    const { record, router } = open(THREE);
    (await replays()).focus();
    await userEvent.keyboard("{ArrowLeft}");
    await record([...THREE, aReplay(9, 500)]);
    await screen.findByText("4 replays, from 500 steps to 3 k steps");
    expect(shown()).toEqual(["Replay at 2\u202f000 steps"]);
    await record([aReplay(2, 2000), aReplay(3, 3000)]);
    await screen.findByText("2 replays, from 2 k steps to 3 k steps");
    expect(shown()).toEqual(["Replay at 2\u202f000 steps"]);
    expect(new URLSearchParams(router.state.location.search).get("replays")).toBe("2");
  });

  it("are placed on the slider by their steps", async () => {
    open([aReplay(1, 1000), aReplay(2, 1500), aReplay(3, 11_000)]);
    await replays();
    const thumb = screen.getByRole("slider", { name: "Checkpoint shown" });
    expect(thumb.getAttribute("aria-valuemin")).toBe("1000");
    expect(thumb.getAttribute("aria-valuenow")).toBe("11000");
    expect(thumb.getAttribute("aria-valuetext")).toBe("11 k steps");
    thumb.focus();
    await userEvent.keyboard("{ArrowLeft}");
    expect(shown()).toEqual(["Replay at 1\u202f500 steps"]);
    expect(thumb.getAttribute("aria-valuenow")).toBe("1500");
    const middle = Number.parseFloat(thumb.style.getPropertyValue("--slider-thumb-offset"));
    expect(middle).toBeCloseTo(5);
  });

  it("omit replays whose file was deleted", async () => {
    open([aReplay(1, 1000, { file_id: null }), aReplay(2, 2000)]);
    await replays();
    expect(screen.getByText("1 replay, at 2 k steps")).toBeTruthy();
  });
});

describe("the player", () => {
  it("plays automatically and muted", async () => {
    open(THREE);
    await replays();
    expect(HTMLMediaElement.prototype.play).toHaveBeenCalled();
    expect(players().map(({ muted }) => muted)).toEqual([true]);
  });

  it("pauses and resumes all replays together", async () => {
    open(THREE);
    await replays();
    await userEvent.click(screen.getByLabelText("2 side by side"));
    await userEvent.click(screen.getByRole("button", { name: "Pause replay" }));
    expect(HTMLMediaElement.prototype.pause).toHaveBeenCalledTimes(2);
    vi.mocked(HTMLMediaElement.prototype.play).mockClear();
    await userEvent.click(screen.getByRole("button", { name: "Play replay" }));
    expect(HTMLMediaElement.prototype.play).toHaveBeenCalledTimes(2);
  });

  it("plays faster on request", async () => {
    open(THREE);
    await replays();
    await userEvent.click(screen.getByLabelText("4×"));
    expect(players().map(({ playbackRate }) => playbackRate)).toEqual([4]);
  });

  it("restarts only after the longest replay has ended", async () => {
    open([aReplay(1, 1000, { seconds: 5 }), aReplay(2, 2000, { seconds: 20 })]);
    await replays();
    await userEvent.click(screen.getByLabelText("2 side by side"));
    const [short, long] = players() as [HTMLVideoElement, HTMLVideoElement];
    const end = (player: HTMLVideoElement) => {
      Object.defineProperty(player, "ended", { value: true, configurable: true });
      fireEvent.ended(player);
    };
    short.currentTime = 5;
    end(short);
    expect(short.currentTime).toBe(5);
    long.currentTime = 20;
    end(long);
    expect([short.currentTime, long.currentTime]).toEqual([0, 0]);
  });

  it("waits for a click if the browser blocks autoplay", async () => {
    vi.mocked(HTMLMediaElement.prototype.play).mockRejectedValue(new DOMException("No.", "NotAllowedError"));
    open(THREE);
    await replays();
    expect(await screen.findByRole("button", { name: "Play replay" })).toBeTruthy();
  });
});

describe("a run without replays", () => {
  it.each([
    [aRun(), "The first replay is recorded after the first checkpoint."],
    [aRun({ state: "paused" }), /^This run is paused; resume it to continue. The first replay is recorded/],
    [aRun({ state: "queued" }), /^This run is waiting for a worker. The first replay is recorded/],
    [aFinishedRun(), "This run has no replays."],
  ])("says whether to expect replays", async (run, words) => {
    open([], run);
    expect(await screen.findByText(words)).toBeTruthy();
  });

  it("shows why they could not be loaded", async () => {
    serve({ "GET /runs/1/replays": () => refusal(500, "The disk is away.") });
    renderPage(<ReplaysTab run={aRun()} />);
    expect(await screen.findByText("The disk is away.")).toBeTruthy();
  });
});
