import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Replay } from "@/api/types";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { aSaliency, aSaliencyState } from "@/testing/saliency";
import { done, refusal, serve } from "@/testing/server";
import { aTrack } from "@/testing/tracks";
import { ReplaysTab } from "./ReplaysTab";

// jsdom does not play videos or draw.
beforeEach(() => {
  vi.stubGlobal("ImageData", vi.fn());
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});

const SEEING: Partial<Replay> = { track_file_id: 401, seen_file_id: 301 };

function open(track: object | (() => object), { replay = SEEING, at = "/" } = {}) {
  const server = serve({
    "GET /runs/1/replays": [aReplay(1, 1000, replay), aReplay(2, 2000, replay)],
    "GET /replays/1/track": track,
    "GET /replays/2/track": track,
  });
  return { ...server, ...renderPage(<ReplaysTab run={aRun()} />, { at }) };
}

const chart = () => screen.findByRole("slider", { name: "Moment of the replay" });
const player = () => document.querySelector("video") as HTMLVideoElement;

/** Seek like a browser that does not report each picture. */
function show(seconds: number) {
  player().currentTime = seconds;
  act(() => void fireEvent.timeUpdate(player()));
}

const decisionIs = (words: string) => expect(screen.getByText(words)).toBeTruthy();

describe("the values and probabilities of the agent", () => {
  it("follow the picture", async () => {
    open(aTrack());
    const slider = await chart();
    decisionIs("1 of 10");
    show(1.22);
    decisionIs("7 of 10");
    expect(slider.getAttribute("aria-valuenow")).toBe("24");
    expect(slider.getAttribute("aria-valuetext")).toBe("1.2 s, decision 7, value 0, surprise −1");
    expect(screen.getByText("Lives").nextSibling?.textContent).toBe("3");
    expect(screen.getByText("Reward", { selector: "dt" }).nextSibling?.textContent).toBe("−1");
  });

  it("have the names of the actions, and mark the taken one", async () => {
    open(aTrack());
    await chart();
    const bars = screen.getByRole("region", { name: "Probability of each action" });
    const rows = () =>
      within(bars)
        .getAllByRole("listitem")
        .map((row) => row.textContent);
    expect(rows()).toEqual(["▸NOOP, taken25.0 %", "FIRE75.0 %"]);
    show(0.22);
    expect(rows()).toEqual(["NOOP25.0 %", "▸FIRE, taken75.0 %"]);
  });

  it("have one scale for the action values of the whole replay", async () => {
    const numbers = aTrack().numbers.map((_, decision) => [-1, decision === 9 ? 3 : 1]);
    open(aTrack({ head: { numbers_kind: "values" }, numbers }));
    await chart();
    const bars = screen.getByRole("region", { name: "Q-value of each action" });
    expect(bars.textContent).toContain("on a scale from −1 to 3");
    const [first, second] = [...bars.querySelectorAll<HTMLElement>("li span > span[style]")];
    expect([first?.style.left, first?.style.width]).toEqual(["0%", "25%"]);
    expect([second?.style.left, second?.style.width]).toEqual(["25%", "25%"]);
  });

  it("show continuous actions as mean and spread, with the taken value", async () => {
    const decisions = aTrack().picture;
    open(
      aTrack({
        head: { numbers_kind: "gaussian", action_names: ["hip", "knee"] },
        numbers: decisions.map(() => [0.5, -0.5, 0.25]),
        action: decisions.map(() => [0.75, -1]),
      }),
    );
    await chart();
    const bars = screen.getByRole("region", { name: "Each action's mean and σ" });
    const rows = within(bars).getAllByRole("listitem");
    expect(rows.map((row) => row.textContent)).toEqual([
      "hip0.5, σ 0.5, took 0.75",
      "knee−0.5, σ 0.5, took −1",
    ]);
  });

  it("show a separate spread for each continuous action if there are several", async () => {
    const decisions = aTrack().picture;
    open(
      aTrack({
        head: { numbers_kind: "gaussian", action_names: ["hip", "knee"] },
        numbers: decisions.map(() => [0.5, -0.5, 0.25, 1]),
        action: decisions.map(() => [0.75, -1]),
      }),
    );
    await chart();
    const rows = within(screen.getByRole("region", { name: "Each action's mean and σ" })).getAllByRole(
      "listitem",
    );
    expect(rows.map((row) => row.textContent)).toEqual([
      "hip0.5, σ 0.5, took 0.75",
      "knee−0.5, σ 1, took −1",
    ]);
  });

  it("omit lives if the game has none", async () => {
    open(aTrack({ lives: aTrack().lives.map(() => -1), life_lost: aTrack().life_lost.map(() => false) }));
    await chart();
    expect(screen.queryByText("Lives")).toBeNull();
    expect(screen.getByRole("button", { name: "Next lost life" }).getAttribute("aria-disabled")).toBe("true");
  });
});

describe("stepping through a replay", () => {
  it("goes by frame or decision with keys, and pauses", async () => {
    open(aTrack());
    await chart();
    await userEvent.keyboard(".");
    expect(player().currentTime).toBeCloseTo(1.5 / 20);
    expect(await screen.findByRole("button", { name: "Play replay" })).toBeTruthy();
    await userEvent.keyboard("]]");
    expect(player().currentTime).toBeCloseTo(8.5 / 20);
    await userEvent.keyboard("{[},");
    expect(player().currentTime).toBeCloseTo(3.5 / 20);
    await userEvent.keyboard(" ");
    expect(await screen.findByRole("button", { name: "Pause replay" })).toBeTruthy();
  });

  it("leaves the space key to a focused button", async () => {
    open(aTrack());
    await chart();
    const button = screen.getByRole("button", { name: "Next decision" });
    button.focus();
    await userEvent.keyboard(" ");
    expect(player().currentTime).toBeCloseTo(4.5 / 20);
    expect(screen.getByRole("button", { name: "Play replay" })).toBeTruthy();
  });

  it("jumps to rewards, lost lives and the greatest surprise, or says why it cannot", async () => {
    open(aTrack());
    await chart();
    const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));
    await press("Next reward");
    expect(player().currentTime).toBeCloseTo(8.5 / 20);
    show(player().currentTime);
    await press("Next lost life");
    expect(player().currentTime).toBeCloseTo(32.5 / 20);
    show(player().currentTime);
    await press("Next reward");
    expect(player().currentTime).toBeCloseTo(32.5 / 20);
    await userEvent.hover(screen.getByRole("button", { name: "Next reward" }));
    expect(await screen.findByText("There is no reward after this decision")).toBeTruthy();
    await press("Greatest surprise");
    expect(player().currentTime).toBeCloseTo(8.5 / 20);
  });

  it("follows clicks and keys on the chart", async () => {
    open(aTrack());
    const slider = await chart();
    vi.spyOn(slider, "getBoundingClientRect").mockReturnValue(new DOMRect(100, 0, 400, 100));
    slider.setPointerCapture = vi.fn();
    fireEvent.pointerDown(slider, { button: 0, clientX: 305 });
    expect(player().currentTime).toBeCloseTo(20.5 / 20);
    show(player().currentTime);
    slider.focus();
    await userEvent.keyboard("{ArrowRight}");
    expect(player().currentTime).toBeCloseTo(24.5 / 20);
    await userEvent.keyboard("{End}");
    expect(player().currentTime).toBeCloseTo(36.5 / 20);
  });
});

describe("a moment", () => {
  it("opens from the URL, paused", async () => {
    const { router } = open(aTrack(), { at: "/?t=1.225&replays=1" });
    const slider = await chart();
    act(() => void fireEvent.loadedData(player()));
    expect(player().currentTime).toBe(1.225);
    act(() => void fireEvent.seeked(player()));
    expect(slider.getAttribute("aria-valuenow")).toBe("24");
    expect(screen.getByRole("button", { name: "Play replay" })).toBeTruthy();
    expect(HTMLMediaElement.prototype.play).not.toHaveBeenCalled();
    expect(router.state.location.search).toBe("?t=1.225&replays=1");
  });

  it("is in the URL with its replay while the replay is paused", async () => {
    const { router } = open(aTrack());
    await chart();
    await userEvent.keyboard("]");
    const search = () => new URLSearchParams(router.state.location.search);
    await waitFor(() => expect(search().get("t")).toBe("0.225"));
    expect(search().get("replays")).toBe("2");
    await userEvent.keyboard(" ");
    await waitFor(() => expect(search().get("t")).toBeNull());
  });

  it("is copied as a link", async () => {
    const user = userEvent.setup();
    open(aTrack(), { at: "/?t=1.225&replays=1" });
    await chart();
    await user.click(screen.getByRole("button", { name: "Copy link to this moment" }));
    expect(await navigator.clipboard.readText()).toBe(`${window.location.origin}/?t=1.225&replays=1`);
  });
});

describe("the network's input", () => {
  it("is shown beside the picture or over it, in sync", async () => {
    open(aTrack());
    await chart();
    const seen = () => screen.queryByLabelText(/^Network input at/);
    expect(seen()).toBeNull();
    await userEvent.click(screen.getByLabelText("Beside"));
    expect(seen()?.getAttribute("src")).toBe("/api/v1/files/301");
    await userEvent.click(screen.getByLabelText("Overlay"));
    await userEvent.keyboard("]");
    expect((seen() as HTMLVideoElement).currentTime).toBeCloseTo(player().currentTime);
    expect(screen.getByRole("slider", { name: "Opacity" })).toBeTruthy();
  });

  it("is disabled with a reason if the network sees numbers", async () => {
    open(aTrack(), { replay: { track_file_id: 401 } });
    await chart();
    expect(screen.getByLabelText<HTMLInputElement>("Beside").disabled).toBe(true);
    expect(screen.getByLabelText(/network sees numbers, not pictures/)).toBeTruthy();
  });
});

describe("side by side", () => {
  it("shows the values and probabilities of the replay whose caption is clicked", async () => {
    const { of } = open(aTrack(), { at: "/?replays=1,2" });
    await chart();
    expect(of("GET /replays/2/track")).toHaveLength(1);
    const captions = screen.getAllByTitle("Show this replay's values and probabilities");
    expect(captions.map((caption) => caption.getAttribute("aria-pressed"))).toEqual(["false", "true"]);
    await userEvent.click(captions[0] as HTMLElement);
    expect(captions.map((caption) => caption.getAttribute("aria-pressed"))).toEqual(["true", "false"]);
    expect(screen.getAllByText("score 0, value 0")).toHaveLength(2);
  });
});

describe("a replay without a readable track", () => {
  it("says that it has no track, requests none, and plays", async () => {
    const { asked } = open(aTrack(), { replay: {} });
    expect(await screen.findByText(/has no track/)).toBeTruthy();
    expect(asked.some(({ path }) => path.endsWith("/track"))).toBe(false);
    expect(HTMLMediaElement.prototype.play).toHaveBeenCalled();
  });

  it("shows the server's error, without a retry", async () => {
    open(() => refusal(404, "The track of this replay cannot be read: it is cut short."));
    expect(await screen.findByText("The track of this replay cannot be read: it is cut short.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
    expect(player().getAttribute("src")).toBe("/api/v1/files/102");
  });

  it("can be retried after a server error", async () => {
    let stumbled = false;
    open(() => {
      if (stumbled) return aTrack();
      stumbled = true;
      return refusal(500, "The disk is away.");
    });
    expect(await screen.findByText("The disk is away.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await chart()).toBeTruthy();
  });
});

it("offers the files of a replay, and notebook code that reads its track", async () => {
  open(aTrack());
  await chart();
  await userEvent.click(screen.getByRole("button", { name: "Download" }));
  const items = await screen.findAllByRole("menuitem");
  expect(items.map((item) => [item.textContent, item.getAttribute("href")])).toEqual([
    ["Replay (.mp4)", "/api/v1/files/102"],
    ["Network input (.mp4)", "/api/v1/files/301"],
    ["Track (.npz)", "/api/v1/files/401"],
    ["Add to report…", null],
  ]);
  expect(screen.getByText('numpy.load("track.npz")["value"]')).toBeTruthy();
});

describe("saliency", () => {
  const asked: Partial<Replay> = { ...SEEING, saliency_asked: true };

  function openWith(answers: Parameters<typeof serve>[0], replay: Partial<Replay> = asked) {
    const server = serve({
      "GET /runs/1/replays": [aReplay(2, 2000, replay)],
      "GET /replays/2/track": aTrack(),
      "GET /replays/2/saliency/maps": aSaliency(),
      ...answers,
    });
    return { ...server, ...renderPage(<ReplaysTab run={aRun()} />) };
  }

  it("can be requested, shows its progress, and can be canceled", async () => {
    const replays = [aReplay(2, 2000, SEEING)];
    const { of } = openWith({
      "GET /runs/1/replays": () => replays,
      "GET /replays/2/saliency": aSaliencyState({ state: "running", done: 4 }),
      "POST /replays/2/saliency": () => {
        replays[0] = aReplay(2, 2000, asked);
        return aSaliencyState({ state: "queued" });
      },
      "DELETE /replays/2/saliency": done,
    });
    await userEvent.click(await screen.findByRole("button", { name: "Compute" }));
    expect(await screen.findByText("Computing, 40 %")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Cancel saliency" }));
    await waitFor(() => expect(of("DELETE /replays/2/saliency")).toHaveLength(1));
  });

  it("is shown over the picture, in sync with it", async () => {
    openWith({ "GET /replays/2/saliency": aSaliencyState() });
    await chart();
    expect(screen.queryByRole("img", { name: "Saliency over the picture" })).toBeNull();
    await userEvent.click(await screen.findByRole("radio", { name: "Both" }));
    const overlay = await screen.findByRole("img", { name: "Saliency over the picture" });
    show(1.22);
    expect(overlay.dataset["decision"]).toBe("6");
    await userEvent.click(screen.getAllByRole("radio", { name: "Off" }).at(-1) as HTMLElement);
    expect(screen.queryByRole("img", { name: "Saliency over the picture" })).toBeNull();
  });

  it("is that of the action values if the method has no policy", async () => {
    const { head, ...rest } = aSaliency();
    openWith({
      "GET /replays/2/saliency": aSaliencyState(),
      "GET /replays/2/saliency/maps": { head: { ...head, numbers_kind: "values" }, ...rest },
    });
    expect(await screen.findByRole("radio", { name: "Q-values" })).toBeTruthy();
  });

  it("shows why it failed, and can be requested again", async () => {
    openWith({
      "GET /replays/2/saliency": aSaliencyState({ state: "failed", reason: "The actions brought 3 points." }),
    });
    expect(await screen.findByText("The actions brought 3 points.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Compute again" })).toBeTruthy();
  });

  it("is disabled if the network sees no pictures", async () => {
    const { of } = openWith({}, { track_file_id: 401, seen_file_id: null });
    const compute = await screen.findByRole("button", { name: "Compute" });
    expect(compute.getAttribute("aria-disabled")).toBe("true");
    await userEvent.click(compute);
    expect(of("POST /replays/2/saliency")).toHaveLength(0);
  });
});

describe("a replay", () => {
  it("is pinned and unpinned", async () => {
    let pinned = false;
    const { of } = serve({
      "GET /runs/1/replays": () => [aReplay(2, 2000, { ...SEEING, pinned })],
      "GET /replays/2/track": aTrack(),
      "PATCH /replays/2": ({ body }) => {
        pinned = (body as { pinned: boolean }).pinned;
        return aReplay(2, 2000, { ...SEEING, pinned });
      },
    });
    renderPage(<ReplaysTab run={aRun()} />);
    await userEvent.click(await screen.findByRole("button", { name: "Pin" }));
    const unpin = await screen.findByRole<HTMLButtonElement>("button", { name: "Pinned" });
    expect(unpin.getAttribute("aria-pressed")).toBe("true");
    // The button ignores clicks until the first change is saved.
    await waitFor(() => expect(unpin.disabled).toBe(false));
    await userEvent.click(unpin);
    expect(await screen.findByRole("button", { name: "Pin" })).toBeTruthy();
    expect(of("PATCH /replays/2").map(({ body }) => body)).toEqual([{ pinned: true }, { pinned: false }]);
  });

  it("can be clipped between two marks if they are not too far apart", async () => {
    serve({
      "GET /runs/1/replays": [aReplay(2, 2000, { ...SEEING, seconds: 40 })],
      "GET /replays/2/track": aTrack(),
    });
    renderPage(<ReplaysTab run={aRun()} />);
    await chart();
    await userEvent.click(screen.getByRole("button", { name: "Clip" }));
    expect(await screen.findByText(/The marks are 40.0 s apart/)).toBeTruthy();
    // jsdom has no layout, so an open popover counts as hidden.
    const button = { hidden: true };
    const download = screen.getByRole<HTMLButtonElement>("button", { name: "Download GIF", ...button });
    expect(download.disabled).toBe(true);
    show(1.5);
    await userEvent.click(screen.getByRole("button", { name: "End here", ...button }));
    expect(await screen.findByText("A GIF for slides, from 0.0 s to 1.5 s.")).toBeTruthy();
    expect(download.disabled).toBe(false);
  });
});
