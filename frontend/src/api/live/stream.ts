import { address } from "../client";
import type { Topic } from "../topics";
import { LIVE_KINDS, type LiveEvent, type LiveSink, type LiveStatus } from "./events";
import { type Watch, Watches } from "./watches";

const RETRY_MS = [500, 1000, 2000, 3000];

/** Open the live stream and keep it open. After a gap, refetch what it does not update. */
export function openStream(sink: LiveSink) {
  const watches = new Watches();
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
      watches.disconnect();
      sink.onStatus("away");
      timer = setTimeout(open, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
      failures += 1;
    };
    for (const kind of LIVE_KINDS) {
      source.addEventListener(kind, (message) => {
        const fields: object = JSON.parse(message.data || "{}");
        // The fields of a job have a `kind` too, so they stay apart.
        const event = (kind === "job.changed" ? { kind, job: fields } : { ...fields, kind }) as LiveEvent;
        watches.take(event);
        sink.onEvent(event);
      });
    }
  }

  open();
  return {
    close() {
      clearTimeout(timer);
      source?.close();
      watches.disconnect();
    },
    watches,
  };
}

const NAME = "arcadia-live";

type Message =
  | { event: LiveEvent }
  | { status: LiveStatus }
  | { ask: "status" }
  | { tab: string; watches: readonly Watch[]; notices: readonly Topic[] };

interface Followed {
  /** Replace the documents that this tab watches, and the notices that it needs. */
  watch: (watches: readonly Watch[], notices: readonly Topic[]) => void;
  close: () => void;
}

/**
 * Follow the live stream with one connection per browser, regardless of the number of tabs. Browsers allow
 * six connections per host, and a stream occupies one permanently. The tab that holds the lock also holds the
 * stream, forwards its events, and sends the watches of all tabs. When this tab closes, another one gets the
 * lock. Without locks (on a page from an insecure origin), each tab opens its own stream.
 */
export function followLive(sink: LiveSink): Followed {
  const tab = Math.random().toString(36);
  if (!("locks" in navigator) || typeof BroadcastChannel === "undefined") {
    const { close, watches } = openStream(sink);
    return { close, watch: (...wanted) => watches.set(tab, ...wanted) };
  }
  const channel = new BroadcastChannel(NAME);
  const left = new AbortController();
  let status: LiveStatus = "connecting";
  let stream: ReturnType<typeof openStream> | undefined;
  const say = (message: Message) => channel.postMessage(message);

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ("event" in data) sink.onEvent(data.event);
    else if ("status" in data) sink.onStatus(data.status);
    else if ("watches" in data) stream?.watches.set(data.tab, data.watches, data.notices);
    else if (stream) say({ status });
  };
  say({ ask: "status" });

  function lead(followed: boolean): Promise<void> {
    if (left.signal.aborted) return Promise.resolve();
    stream = openStream({
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

  return {
    watch(watches, notices) {
      if (stream) stream.watches.set(tab, watches, notices);
      else say({ tab, watches, notices });
    },
    close() {
      left.abort();
      if (stream) stream.close();
      else say({ tab, watches: [], notices: [] });
      channel.close();
    },
  };
}

/** Return true if the browser denies locks. It may do so in frames of other sites, whose storage it blocks. */
const isDenied = (error: unknown) => error instanceof DOMException && error.name === "SecurityError";
