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

/** What a page knows of a live game now. */
export interface View {
  connected: boolean;
  /** Whether a process plays. */
  playing: boolean;
  scene: Scene | null;
  head: PictureHead | null;
  viewers: number;
  /** The name of this page among the viewers. */
  you: string | null;
  /** Milliseconds from an order to the picture that answers it. */
  delay: number | null;
  /** Milliseconds from the last key that was pressed or let go to the first picture made after it. */
  latency: number | null;
  /** Why the server took no connection, which is tried again. */
  refused: string | null;
  /** Why the connection ended for good. */
  over: string | null;
}

export type Send = (order: Order, at?: number) => void;

const RETRY_MS = 1000;
/** From here on the backend says why it closes; below it the browser does. */
const OWN_CODES = 4000;
const PING_MS = 1000;
/** Thoughts change with each picture; nobody reads faster than this. */
const TELL_MS = 80;

/** One connection to a live game, opened again when it breaks. */
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
  private readonly sent = new Map<string, { at: number; told: "delay" | "latency" }>();
  private socket: WebSocket | null = null;
  private timers: { retry?: number; tell?: number; ping?: number } = {};
  private received = 0;
  private orders = 0;
  private drawn = 0;
  /** How many processes have played here, the present one included. Each counts its pictures from the first. */
  private players = 0;

  constructor(
    private readonly game: number,
    private readonly draw: (image: ImageBitmap) => void,
  ) {}

  /** Connect; returns what ends the connection. */
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

  /** Give an order, now or for what was done a moment ago; without a connection it is lost, as the buttons are. */
  readonly send: Send = (order, at = performance.now()) => {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const id = String(++this.orders);
    // Of a paused game no pictures come that could answer.
    if (this.sent.size > 100) this.sent.clear();
    this.sent.set(id, { at, told: order.order === "keys" ? "latency" : "delay" });
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
    // Before its scene, it is a picture of the process that is gone.
    if (!this.view.playing) return;
    const player = this.players;
    void createImageBitmap(png).then((image) => {
      // Pictures may be unpacked in another order than they came in. What an older one answers, a newer one showed.
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
      if (sent !== undefined) took[sent.told] = performance.now() - sent.at;
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
