import { fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import type { PlayedGame } from "@/api/types";
import { FakeSocket, fakeSockets, HEAD, message, SCENE } from "@/testing/broadcast";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import ReplayPlayPage from "./ReplayPlayPage";

const ASK = "POST /replays/2/play";
const ME = { kind: "audience", viewers: 1, you: "me" };
const ORIGIN = { decision: 130, score: 4, frames: 520 };
const WAITING = { ...SCENE, origin: ORIGIN, waiting: true };
const MINE = { ...WAITING, waiting: false, hands: "me" };
const AGENT = { ...WAITING, waiting: false };

const game = (changes: Partial<PlayedGame> = {}): PlayedGame => ({
  id: 5,
  env: "ALE/Pong-v5",
  replay_id: 2,
  run_id: 1,
  decision: 130,
  state: "running",
  reason: null,
  traceback: null,
  worker: "one",
  created_at: "2026-01-01T10:30:00Z",
  started_at: null,
  ...changes,
});

beforeEach(fakeSockets);

function open(at: string, answers: Record<string, object> = {}) {
  const server = serve({
    "GET /kept-games": [],
    [ASK]: game(),
    "GET /replays/2/play/5": game(),
    ...answers,
  });
  renderPage(<ReplayPlayPage />, { at, path: "/replays/:replay/play/:id?" });
  return server;
}

async function play(scene: object, head = HEAD) {
  open("/replays/2/play/5?decision=130&t=8.5");
  const socket = await FakeSocket.opened();
  socket.say(ME, scene, message(head));
  await screen.findByText("Score from here");
  return socket;
}

const named = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });
const orders = (socket: FakeSocket) => socket.orders().map(({ order }) => order);

describe("a game that continues a replay", () => {
  it("waits for a key, which takes over", async () => {
    const server = open("/replays/2/play?decision=130");
    const socket = await FakeSocket.opened();
    expect(server.of(ASK)[0]?.body).toEqual({ decision: 130 });
    expect(screen.getByRole("heading", { name: "Play from decision 131" })).toBeTruthy();
    socket.say(ME, WAITING, message(HEAD));
    expect(await screen.findByText("Press a key to take over")).toBeTruthy();
    fireEvent.keyDown(document.body, { key: "ArrowUp" });
    expect(orders(socket)).toEqual(["take over", "keys"]);
    socket.say(MINE);
    expect(screen.queryByText("Press a key to take over")).toBeNull();
  });

  it("shows the score from the decision and in total", async () => {
    await play(MINE);
    const facts = screen.getAllByRole("definition").map(({ textContent }) => textContent);
    expect(facts.slice(0, 2)).toEqual(["3", "7"]);
    expect(facts).toContain("You");
  });

  it("changes the player by button and by key", async () => {
    const socket = await play(MINE);
    await userEvent.click(named("Hand to the agent"));
    socket.say(AGENT);
    expect(screen.getByText("The agent")).toBeTruthy();
    fireEvent.keyDown(document.body, { key: "t" });
    expect(orders(socket)).toEqual(["let agent play", "take over"]);
    socket.say(MINE);
    fireEvent.keyDown(document.body, { key: "t" });
    expect(orders(socket).at(-1)).toBe("let agent play");
  });

  it("shows at its end the score from the decision, and can be kept", async () => {
    const socket = await play({ ...MINE, over: true });
    expect(screen.getByText("Game over: 3 points from here. Press R to start again.")).toBeTruthy();
    expect(named("Hand to the agent").disabled).toBe(true);
    await userEvent.click(named("Keep this game"));
    fireEvent.keyDown(document.body, { key: "r" });
    expect(orders(socket)).toEqual(["keep", "new game"]);
  });

  it("says that it moves only while a key is held", async () => {
    await play({ ...MINE, can_rest: false });
    expect(screen.getByText(/moves only while you hold a key/)).toBeTruthy();
  });

  it("can only be watched while another person plays", async () => {
    const socket = await play({ ...MINE, hands: "another" });
    expect(screen.getByText(/You are watching another player/)).toBeTruthy();
    expect(named("Take over").disabled).toBe(true);
    fireEvent.keyDown(document.body, { key: "t" });
    expect(orders(socket)).toEqual([]);
  });

  it("leads back to the moment of the replay with its futures", async () => {
    await play(MINE);
    const link = screen.getByRole("link", { name: "Back to the replay" });
    expect(link.getAttribute("href")).toBe("/runs/1/replays?replays=2&t=8.5&what-if=");
  });

  it("shows a lost process and why the server refuses", async () => {
    const socket = await play(MINE);
    socket.say({ kind: "away" });
    expect(screen.getByText("The game process stopped. Starting another…")).toBeTruthy();
    const deleted = "Playing from here needs the checkpoint at step 1000, which was deleted.";
    open("/replays/2/play?decision=130", { [ASK]: refusal(409, deleted) });
    expect(await screen.findByText(deleted)).toBeTruthy();
  });
});
