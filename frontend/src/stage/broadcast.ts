import { address } from "@/api/client";
import {
  FINAL_CODES,
  type Message,
  type Order,
  type Picture,
  pictureOf,
  type PictureHead,
  type Scene,
  SEEN_EVERY,
} from "./protocol";

/** Current state of a live game. */
export interface View {
  connected: boolean;
  /** True if a process plays. */
  playing: boolean;
  scene: Scene | null;
  head: PictureHead | null;
  viewers: number;
  /** Viewer ID of this page. */
  you: string | null;
  /** Milliseconds from a command to the picture that answers it. */
  delay: number | null;
  /** Milliseconds from the last key event to the first picture after it. */
  latency: number | null;
  /** Reason why the server refused the connection. It is retried. */
  refused: string | null;
  /** Reason why the connection ended permanently. */
  over: string | null;
}

export type Send = (order: Order, at?: number) => void;

const RETRY_MS = 1000;
/** Lowest close code of the backend. Lower codes are the browser's. */
const OWN_CODES = 4000;
const PING_MS = 1000;
/** Update interval of the agent's numbers, slow enough to read. */
const TELL_MS = 80;

/** Connection to a live game that reconnects after a failure. */
export class Broadcast {
  private view: View = {
    connected: false,
    playing: false,
    scene: null,
    head: null,
    viewers: 0,
    you: null,
    delay: null,
    latency: null,
    refused: null,
    over: null,
  };
  private readonly listeners = new Set<() => void>();
  private readonly sent = new Map<string, { at: number; quantity: "delay" | "latency" }>();
  private socket: WebSocket | null = null;
  private timers: { retry?: number; tell?: number; ping?: number } = {};
  private received = 0;
  private orders = 0;
  private drawn = 0;
  /** Number of processes so far, including the current one. Each numbers its pictures from the first. */
  private players = 0;

  constructor(
    private readonly game: number,
    private readonly draw: (image: ImageBitmap) => void,
  ) {}

  /** Connect. Return a function that closes the connection. */
  readonly open = (): (() => void) => {
    this.connect();
    this.timers.ping = window.setInterval(() => this.send({ order: "ping" }), PING_MS);
    return () => {
      for (const timer of Object.values(this.timers)) window.clearTimeout(timer);
      const socket = this.socket;
      this.socket = null;
      socket?.close();
    };
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly seen = (): View => this.view;

  /** Send a command, with the time of the user's input. Without a connection it is dropped. */
  readonly send: Send = (order, at = performance.now()) => {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const id = String(++this.orders);
    // A paused game sends no pictures in response.
    if (this.sent.size > 100) this.sent.clear();
    this.sent.set(id, { at, quantity: order.order === "keys" ? "latency" : "delay" });
    this.socket.send(JSON.stringify({ ...order, id }));
  };

  private connect(): void {
    const url = new URL(address(`/live/${this.game}`), window.location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.socket !== socket) return;
      if (typeof data === "string") this.hear(JSON.parse(data) as Message);
      else this.receive(pictureOf(data));
    };
    socket.onclose = ({ code, reason }) => {
      if (this.socket !== socket) return;
      if (FINAL_CODES.includes(code))
        return this.tell({ playing: false, over: reason || "This game is over." });
      this.tell({
        connected: false,
        playing: false,
        delay: null,
        latency: null,
        refused: code >= OWN_CODES ? reason : null,
      });
      this.timers.retry = window.setTimeout(() => this.connect(), RETRY_MS);
    };
    socket.onopen = () => this.tell({ connected: true });
    this.socket = socket;
    this.received = 0;
    this.nextPlayer();
  }

  private nextPlayer(): void {
    this.players += 1;
    this.drawn = 0;
  }

  private hear(message: Message): void {
    if (message.kind === "audience") this.tell({ viewers: message.viewers, you: message.you, refused: null });
    else if (message.kind === "scene") this.tell({ scene: message, playing: true });
    else {
      this.nextPlayer();
      this.tell({ playing: false, delay: null, latency: null });
    }
  }

  private receive({ head, png }: Picture): void {
    if (++this.received % SEEN_EVERY === 0) this.socket?.send(JSON.stringify({ order: "seen" }));
    // A picture before the scene comes from the previous process.
    if (!this.view.playing) return;
    const player = this.players;
    void createImageBitmap(png).then((image) => {
      // Pictures may be decoded out of order. A newer picture also answers the commands of older ones.
      if (player === this.players && head.picture > this.drawn) {
        this.drawn = head.picture;
        this.draw(image);
        this.view = { ...this.view, head };
      }
      this.answered(head.heard);
      image.close();
    });
  }

  private answered(orders: PictureHead["heard"]): void {
    const took: Partial<Pick<View, "delay" | "latency">> = {};
    for (const id of orders) {
      const sent = this.sent.get(id);
      if (sent !== undefined) took[sent.quantity] = performance.now() - sent.at;
      this.sent.delete(id);
    }
    this.view = { ...this.view, ...took };
    this.timers.tell ??= window.setTimeout(() => this.tell({}), TELL_MS);
  }

  private tell(news: Partial<View>): void {
    window.clearTimeout(this.timers.tell);
    this.timers.tell = undefined;
    this.view = { ...this.view, ...news };
    for (const listener of this.listeners) listener();
  }
}
