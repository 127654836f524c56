import { act } from "@testing-library/react";
import { vi } from "vitest";
import type { AgentOnStage, PictureHead, Scene } from "@/stage/protocol";

export const AGENT: AgentOnStage = {
  numbers_kind: "policy",
  step: 3000,
  loaded: 1,
  temperature: 1,
  sampled: "policy",
};

export const SCENE: Scene = {
  kind: "scene",
  env: "ALE/Pong-v5",
  action_names: ["NOOP", "FIRE"],
  pictures_per_second: 60,
  game: 1,
  paused: false,
  over: false,
  waiting: false,
  origin: null,
  agent: AGENT,
  takes_hands: true,
  can_rest: true,
  has_fire: true,
  hands: null,
};

export const HEAD: PictureHead = {
  picture: 1,
  game: 1,
  frames: 4,
  score: 7,
  lives: -1,
  action: 1,
  value: 0.5,
  numbers: [0.25, 0.75],
  heard: [],
};

/** A fake WebSocket. */
export class FakeSocket {
  static readonly OPEN = 1;
  static all: FakeSocket[] = [];
  readonly readyState = 1;
  readonly sent: Record<string, unknown>[] = [];
  closed = false;
  onopen?: () => void;
  onmessage?: (event: { data: unknown }) => void;
  onclose?: (event: { code: number; reason: string }) => void;

  constructor(readonly url: URL) {
    FakeSocket.all.push(this);
  }

  /** Wait until a page has connected, and let it know. */
  static async opened(): Promise<FakeSocket> {
    const socket = await vi.waitFor(() => {
      const [first] = FakeSocket.all;
      if (!first) throw new Error("No connection is open.");
      return first;
    });
    act(() => socket.onopen?.());
    return socket;
  }

  send(text: string) {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close() {
    this.closed = true;
  }

  /** Return the sent commands, without the automatic ones. */
  orders() {
    return this.sent.filter(({ order }) => order !== "ping" && order !== "seen");
  }

  say(...messages: unknown[]) {
    act(() => {
      for (const each of messages) {
        this.onmessage?.({ data: each instanceof ArrayBuffer ? each : JSON.stringify(each) });
      }
    });
  }
}

export function message(head: PictureHead): ArrayBuffer {
  const header = new TextEncoder().encode(JSON.stringify(head));
  const whole = new Uint8Array(4 + header.length + 3);
  new DataView(whole.buffer).setUint32(0, header.length);
  whole.set(header, 4);
  whole.set([1, 2, 3], 4 + header.length);
  return whole.buffer;
}

/** Fake the browser features that the page of a live game uses. */
export function fakeSockets() {
  FakeSocket.all = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("createImageBitmap", () =>
    Promise.resolve({ width: 160, height: 210, close: () => undefined }),
  );
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
}
