import { address } from "../client";
import { LIVE_KINDS, type LiveEvent, type LiveSink, type LiveStatus } from "./events";

const RETRY_MS = [500, 1000, 2000, 3000];

/** Open the live stream and keep it open. After a gap, refetch everything. Return a function that closes it. */
export function openStream(sink: LiveSink): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;

  function open() {
    source = new EventSource(address("/events"));
    source.onopen = () => {
      sink.onStatus("live");
      if (failures > 0) sink.onEvent({ kind: "refetch" });
      failures = 0;
    };
    source.onerror = () => {
      // Reconnect here, because the browser stops retrying after an HTTP error and waits long after others.
      source?.close();
      sink.onStatus("away");
      timer = setTimeout(open, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
      failures += 1;
    };
    for (const kind of LIVE_KINDS) {
      source.addEventListener(kind, (message) => {
        const fields: object = JSON.parse(message.data || "{}");
        // The fields of a job have a `kind` too, so they stay apart.
        sink.onEvent((kind === "job.changed" ? { kind, job: fields } : { ...fields, kind }) as LiveEvent);
      });
    }
  }

  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}

const NAME = "arcadia-live";

type Message = { event: LiveEvent } | { status: LiveStatus } | { ask: "status" };

/**
 * Follow the live stream with one connection per browser, regardless of the number of tabs. Browsers allow
 * six connections per host, and a stream occupies one permanently. The tab that holds the lock also holds the
 * stream and forwards its events. When this tab closes, another one gets the lock. Without locks (on a page
 * from an insecure origin), each tab opens its own stream.
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
