import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { LiveGame } from "@/api/types";
import { renderPage } from "@/testing/render";
import { AGENT, FakeSocket, fakeSockets, HEAD, message, SCENE } from "@/testing/broadcast";
import { aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { LiveTab } from "./LiveTab";
import { pictureOf, SEEN_EVERY } from "@/stage/protocol";

const REQUEST = "POST /runs/1/live";

const game = (changes: Partial<LiveGame> = {}): LiveGame => ({
  id: 5,
  run_id: 1,
  state: "running",
  reason: null,
  traceback: null,
  checkpoint_id: 3,
  step: 3000,
  follows: true,
  worker: "one",
  created_at: "2026-01-01T10:30:00Z",
  started_at: null,
  ...changes,
});

beforeEach(fakeSockets);

async function watch(answers: Record<string, object> = {}, at = "/runs/1/live") {
  const server = serve({ [REQUEST]: game(), "GET /live/5": game(), ...answers });
  renderPage(<LiveTab run={aRun({ id: 1, env: "ALE/Pong-v5" })} />, { at, path: "/runs/:id/live" });
  return { server, socket: await FakeSocket.opened() };
}

describe("a live game", () => {
  it("is requested, and shown with the agent's probabilities", async () => {
    const { server, socket } = await watch();
    expect(server.of(REQUEST).map(({ body }) => body)).toEqual([{ checkpoint: "newest" }]);
    expect(socket.url.href).toMatch(/^ws:.*\/api\/v1\/live\/5$/);
    expect(screen.getByText(/^Loading the agent/)).toBeTruthy();
    socket.say(SCENE, { kind: "audience", viewers: 3, you: "a-1" }, message(HEAD));
    expect(await screen.findByText("75.0 %")).toBeTruthy();
    expect(screen.getByText("Score").nextSibling?.textContent).toBe("7");
    expect(screen.getByText("Viewers").nextSibling?.textContent).toBe("3");
    expect(screen.queryByText(/^Loading the agent/)).toBeNull();
  });

  it("shows that it is starting", async () => {
    serve({ [REQUEST]: () => new Promise<object>(() => undefined) });
    renderPage(<LiveTab run={aRun({ id: 1 })} />);
    expect(await screen.findByText("Starting the live game…")).toBeTruthy();
  });

  it("is not requested if the agent cannot play", async () => {
    const server = serve({});
    renderPage(<LiveTab run={aRun({ actions: { play: "The plug-in toy is not installed." } })} />);
    expect(await screen.findByText(/^The plug-in toy is not installed\./)).toBeTruthy();
    expect(server.asked).toEqual([]);
  });

  it("acknowledges the frames", async () => {
    const { socket } = await watch();
    const pictures = Array.from({ length: 2 * SEEN_EVERY }, (_, i) => message({ ...HEAD, picture: i + 1 }));
    socket.say(SCENE, ...pictures);
    expect(socket.sent.filter(({ order }) => order === "seen")).toHaveLength(2);
  });

  it("sends commands and shows the input latency", async () => {
    const { socket } = await watch();
    socket.say(SCENE, message(HEAD));
    await userEvent.click(await screen.findByRole("button", { name: "Pause game" }));
    const [order] = socket.sent.filter((each) => each.order === "pause");
    socket.say({ ...SCENE, paused: true }, message({ ...HEAD, picture: 2, heard: [String(order?.id)] }));
    expect(await screen.findByText(/^\d+ ms$/)).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Step" }));
    await userEvent.click(screen.getByRole("button", { name: "Resume game" }));
    const given = socket.sent.map(({ order }) => order).filter((order) => order !== "ping");
    expect(given).toEqual(["pause", "step", "go"]);
  });

  it("can be taken over and handed back, unless another person plays", async () => {
    const { socket } = await watch();
    socket.say({ kind: "audience", viewers: 2, you: "me" }, SCENE, message(HEAD));
    fireEvent.keyDown(document.body, { key: "ArrowUp" });
    await userEvent.click(await screen.findByRole("button", { name: "Take over" }));
    socket.say({ ...SCENE, hands: "me" });
    fireEvent.keyDown(document.body, { key: "ArrowUp" });
    await userEvent.click(screen.getByRole("button", { name: "Hand back" }));
    expect(socket.orders().map(({ order }) => order)).toEqual(["take over", "keys", "hand back"]);
    socket.say({ ...SCENE, hands: "another" });
    expect(screen.getByText("Another person is playing.")).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Take over" }).disabled).toBe(true);
    socket.say({ ...SCENE, takes_hands: false });
    expect(screen.queryByRole("button", { name: "Take over" })).toBeNull();
  });

  it("keeps the focus on the temperature while it changes, and shows what others set", async () => {
    const { socket } = await watch();
    const slider = () => screen.getByRole("slider", { name: "Temperature" });
    const set = (temperature: number) => socket.say({ ...SCENE, agent: { ...AGENT, temperature } });
    socket.say(SCENE, message(HEAD));
    slider().focus();
    await userEvent.keyboard("{ArrowLeft}");
    set(0.95);
    await userEvent.keyboard("{ArrowLeft}");
    expect(socket.orders().map(({ value }) => value)).toEqual([0.95, 0.9]);
    set(0.5);
    expect(slider().getAttribute("aria-valuenow")).toBe("0.5");
  });

  it("shows the frames of a process that replaced another during a disconnect", async () => {
    const { socket } = await watch();
    socket.say(SCENE, message({ ...HEAD, picture: 500 }));
    await screen.findByText("75.0 %");
    act(() => socket.onclose?.({ code: 1006, reason: "" }));
    const next = await vi.waitFor(
      () => FakeSocket.all[1] ?? expect.fail("It has not connected again."),
      5000,
    );
    act(() => next.onopen?.());
    next.say(SCENE, message({ ...HEAD, picture: 1, score: 3 }));
    await vi.waitFor(() => expect(screen.getByText("Score").nextSibling?.textContent).toBe("3"), 5000);
  });

  it("ignores late frames of a process that is gone", async () => {
    const { socket } = await watch();
    const last = { ...HEAD, picture: 500, score: 8 };
    socket.say(SCENE, message(last), { kind: "away" }, message(last));
    expect(await screen.findByText(/game process stopped/)).toBeTruthy();
    socket.say(SCENE, message({ ...HEAD, picture: 1, score: 3 }));
    await vi.waitFor(() => expect(screen.getByText("Score").nextSibling?.textContent).toBe("3"), 5000);
  });

  it("says when a newer checkpoint is loaded", async () => {
    const { socket } = await watch();
    socket.say({ ...SCENE, agent: { ...AGENT, step: 9000, loaded: 2 } }, message(HEAD));
    expect(await screen.findByText(/Playing a newer checkpoint, at 9 k steps/)).toBeTruthy();
  });

  it("says that the playing process is gone, and continues with the next one", async () => {
    const { socket } = await watch();
    socket.say(SCENE, message(HEAD), { kind: "away" });
    expect(await screen.findByText("The game process stopped. Starting another…")).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Pause game" }).disabled).toBe(true);
    socket.say(SCENE);
    expect(screen.queryByText(/game process stopped/)).toBeNull();
  });

  it("says why it waits and that it is over", async () => {
    const waits = game({ state: "queued", reason: "Waits for a live game on worker w1." });
    const { socket } = await watch({ [REQUEST]: waits, "GET /live/5": waits });
    expect(await screen.findByText("Waits for a live game on worker w1.")).toBeTruthy();
    act(() => socket.onclose?.({ code: 4000, reason: "No one has watched for 10 seconds." }));
    expect(await screen.findByText("This game is over.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Watch again" })).toBeTruthy();
  });

  it("says why the server accepts no more viewers, until it accepts this one", async () => {
    const { socket } = await watch();
    const reason = "500 pages watch live games already; close some.";
    act(() => socket.onclose?.({ code: 4429, reason }));
    expect(await screen.findByText(`${reason} Retrying automatically…`)).toBeTruthy();
    await waitFor(() => expect(FakeSocket.all).toHaveLength(2));
    act(() => FakeSocket.all[1]?.onopen?.());
    expect(screen.getByText(/500 pages watch/)).toBeTruthy();
    FakeSocket.all[1]?.say({ kind: "audience", viewers: 499, you: "a-1" });
    expect(screen.queryByText(/500 pages watch/)).toBeNull();
  });

  it("shows why it was refused, and can retry", async () => {
    const server = serve({ [REQUEST]: refusal(409, "2 live games are being played already.") });
    renderPage(<LiveTab run={aRun({ id: 1 })} />, {
      at: "/runs/1/live?checkpoint=7",
      path: "/runs/:id/live",
    });
    expect(await screen.findByText("2 live games are being played already.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(server.of(REQUEST).map(({ body }) => body)).toEqual([{ checkpoint: 7 }, { checkpoint: 7 }]);
  });
});

describe("a frame message", () => {
  it("has a head and a file", () => {
    const { head, png } = pictureOf(message(HEAD));
    expect(head).toEqual(HEAD);
    expect([png.size, png.type]).toEqual([3, "image/png"]);
  });
});
