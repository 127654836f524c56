import type { LiveEvent, LiveSink, LiveStatus } from "./events";
import { openStream } from "./stream";

const NAME = "arcadia-live";

type Message = { event: LiveEvent } | { status: LiveStatus } | { ask: "status" };

/**
 * Follow the live stream with one connection a browser, however many tabs are open: browsers allow six connections
 * a host, and a stream takes one for ever. The tab that holds the lock holds the stream and passes on what it hears;
 * when it closes, the lock goes to the next. Without locks (a page not served from a secure origin) each tab has its own.
 */
export function followLive(sink: LiveSink): () => void {
  if (!("locks" in navigator) || typeof BroadcastChannel === "undefined") return openStream(sink);
  const channel = new BroadcastChannel(NAME);
  const left = new AbortController();
  let status: LiveStatus = "connecting";
  let leading = false;
  let close = () => {};
  const say = (message: Message) => channel.postMessage(message);

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ("event" in data) sink.onEvent(data.event);
    else if ("status" in data) sink.onStatus(data.status);
    else if (leading) say({ status });
  };
  say({ ask: "status" });

  function lead(followed: boolean): Promise<void> {
    if (left.signal.aborted) return Promise.resolve();
    leading = true;
    close = openStream({
      onEvent(event) {
        sink.onEvent(event);
        say({ event });
      },
      onStatus(next) {
        status = next;
        sink.onStatus(next);
        say({ status: next });
        if (next === "live" && followed) {
          // Events between the previous connection and this one may be lost.
          followed = false;
          sink.onEvent({ kind: "refetch" });
          say({ event: { kind: "refetch" } });
        }
      },
    });
    return new Promise((resolve) => left.signal.addEventListener("abort", () => resolve()));
  }

  async function takeTurn() {
    const led = await navigator.locks.request(NAME, { ifAvailable: true }, (lock) =>
      lock ? lead(false).then(() => true) : false,
    );
    if (!led) await navigator.locks.request(NAME, { signal: left.signal }, () => lead(true));
  }

  takeTurn().catch((error: unknown) => {
    if (left.signal.aborted) return;
    if (!isDenied(error)) throw error;
    void lead(false);
  });

  return () => {
    left.abort();
    close();
    channel.close();
  };
}

/** Return true if the browser denies locks. It may do so in frames of other sites, whose storage it blocks. */
const isDenied = (error: unknown) => error instanceof DOMException && error.name === "SecurityError";
