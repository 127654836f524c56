import { address } from "../client";
import { LIVE_KINDS, type LiveEvent, type LiveSink } from "./events";

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
        sink.onEvent({ ...fields, kind } as LiveEvent);
      });
    }
  }

  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
