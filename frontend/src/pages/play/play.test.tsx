import { act, createEvent, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import type { PlayedGame } from "@/api/types";
import { FakeSocket, fakeSockets, HEAD, message, SCENE } from "@/testing/broadcast";
import { aGame } from "@/testing/games";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import PlayPage from "./PlayPage";

const ASK = "POST /games/pong/play";
const ME = { kind: "audience", viewers: 1, you: "me" };
const FREE = { ...SCENE, agent: null };
const MINE = { ...FREE, hands: "me" };
const HELD = { order: "keys", id: expect.any(String) };

const game = (changes: Partial<PlayedGame> = {}): PlayedGame => ({
  id: 5,
  env: "ALE/Pong-v5",
  replay_id: null,
  run_id: null,
  decision: null,
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
    "GET /games/pong": aGame([]),
    "GET /kept-games": [],
    [ASK]: game(),
    "GET /games/pong/play/5": game(),
    ...answers,
  });
  renderPage(<PlayPage />, { at, path: "/games/:slug/play/:id?" });
  return server;
}

async function play(scene: object = MINE) {
  open("/games/pong/play/5");
  const socket = await FakeSocket.opened();
  socket.say(ME, scene, message(HEAD));
  await screen.findByText("Input latency");
  return socket;
}

describe("a game that a person plays", () => {
  it("offers the fire key only if the game has one", async () => {
    const socket = await play();
    expect(screen.getByRole("button", { name: "Fire" })).toBeTruthy();
    socket.say({ ...FREE, has_fire: false });
    expect(await screen.findByText("Press an arrow key to start.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Fire" })).toBeNull();
  });

  it("starts with the first key and follows held keys", async () => {
    const server = open("/games/pong/play");
    const socket = await FakeSocket.opened();
    expect(server.of(ASK)).toHaveLength(1);
    expect(screen.getByText(/Loading the game/)).toBeTruthy();
    socket.say(ME, FREE, message(HEAD));
    expect(await screen.findByText("Press an arrow key or Space to start.")).toBeTruthy();
    fireEvent.keyDown(document.body, { key: "ArrowUp" });
    socket.say(MINE);
    expect(screen.queryByText(/begins with your first/)).toBeNull();
    fireEvent.keyDown(document.body, { key: "ArrowUp", repeat: true });
    fireEvent.keyDown(document.body, { key: " " });
    fireEvent.keyUp(document.body, { key: "ArrowUp" });
    expect(socket.orders()).toEqual([
      { order: "take over", id: expect.any(String) },
      { ...HELD, held: ["up"] },
      { ...HELD, held: ["up", "fire"] },
      { ...HELD, held: ["fire"] },
    ]);
  });

  it.each([
    ["", [2]],
    [", even if a later picture is drawn before it", [3, 2]],
  ])("shows the time from a key to the first picture made after it%s", async (_, pictures) => {
    const socket = await play();
    const press = createEvent.keyDown(document.body, { key: "ArrowLeft" });
    // Browsers use the same clock as performance.now(). jsdom does not.
    Object.defineProperty(press, "timeStamp", { value: performance.now() });
    fireEvent(document.body, press);
    const [order] = socket.orders();
    for (const picture of pictures) {
      socket.say(message({ ...HEAD, picture, heard: picture === 2 ? [String(order?.id)] : [] }));
    }
    expect(await screen.findByText(/^\d+ ms$/)).toBeTruthy();
  });

  it("restarts with R, and pauses", async () => {
    const socket = await play();
    fireEvent.keyDown(document.body, { key: "r" });
    await userEvent.click(screen.getByRole("button", { name: "Pause game" }));
    socket.say({ ...MINE, paused: true });
    expect(screen.getByText("Paused.")).toBeTruthy();
    expect(socket.orders().map(({ order }) => order)).toEqual(["new game", "pause"]);
  });

  it("releases the keys when the window loses the focus", async () => {
    const socket = await play();
    fireEvent.keyDown(document.body, { key: "ArrowLeft" });
    act(() => void window.dispatchEvent(new Event("blur")));
    expect(socket.orders()).toEqual([
      { ...HELD, held: ["left"] },
      { ...HELD, held: [] },
    ]);
  });

  it("is played by touch, including diagonals", async () => {
    const socket = await play();
    const across = screen.getByRole("button", { name: "Up and left" });
    fireEvent.pointerDown(across);
    fireEvent.pointerUp(across);
    expect(socket.orders()).toEqual([
      { ...HELD, held: ["up", "left"] },
      { ...HELD, held: [] },
    ]);
  });

  it("can only be watched while another person plays", async () => {
    const socket = await play({ ...FREE, hands: "another" });
    expect(screen.getByText(/You are watching another player/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Up and left" })).toBeNull();
    expect(screen.getByRole("button", { name: "Full screen" })).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "New game" }).disabled).toBe(true);
    fireEvent.keyDown(document.body, { key: "ArrowLeft" });
    fireEvent.keyDown(document.body, { key: "r" });
    expect(socket.orders()).toEqual([]);
  });

  it("ignores keys in text fields", async () => {
    const socket = await play();
    const field = document.body.appendChild(document.createElement("input"));
    fireEvent.keyDown(field, { key: "r" });
    fireEvent.keyDown(field, { key: "ArrowLeft" });
    field.remove();
    expect(socket.orders()).toEqual([]);
  });

  it("ignores keys in an open menu and on a focused button", async () => {
    const socket = await play();
    const menu = document.body.appendChild(document.createElement("div"));
    menu.setAttribute("role", "menu");
    const seen: string[] = [];
    for (const kind of ["keydown", "keyup"]) menu.addEventListener(kind, () => seen.push(kind));
    fireEvent.keyDown(menu, { key: "ArrowDown" });
    fireEvent.keyUp(menu, { key: "ArrowDown" });
    menu.remove();
    expect(seen).toEqual(["keydown", "keyup"]);
    expect(socket.orders()).toEqual([]);
  });

  it("shows the result and a lost process", async () => {
    const socket = await play();
    socket.say({ ...MINE, over: true });
    expect(screen.getByText("Game over: 7 points. Press R to play again.")).toBeTruthy();
    socket.say({ kind: "away" });
    expect(screen.getByText("The game process stopped. Starting another…")).toBeTruthy();
  });

  it("can be kept, and shows a refusal", async () => {
    const full = "100 games of Pong are kept, which is the limit. Delete one, then keep this game again.";
    open("/games/pong/play/5", { "GET /games/pong/play/5": game({ reason: full }) });
    const socket = await FakeSocket.opened();
    socket.say(ME, MINE, message(HEAD));
    await userEvent.click(await screen.findByRole("button", { name: "Keep this game" }));
    expect(socket.orders().map(({ order }) => order)).toEqual(["keep"]);
    expect(screen.getByText(full)).toBeTruthy();
  });

  it("shows a refusal and can be requested again", async () => {
    const server = open("/games/pong/play", {
      [ASK]: refusal(409, "4 live games are being played already."),
    });
    expect(await screen.findByText("4 live games are being played already.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(server.of(ASK)).toHaveLength(2);
  });

  it("links to a new game after it was removed", async () => {
    open("/games/pong/play/5", { "GET /games/pong/play/5": refusal(404, "There is no live game 5.") });
    expect(await screen.findByText(/There is no live game 5/)).toBeTruthy();
    expect(screen.getByRole("link", { name: "Play again" }).getAttribute("href")).toBe("/games/pong/play");
  });
});
