import { address } from "../client";
import { LIVE_KINDS, type LiveEvent, type LiveSink } from "./events";

const RETRY_MS = [500, 1000, 2000, 3000];

/** Open the server's stream and keep it open; after every gap everything is asked for again. Returns what closes it. */
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
      // The browser's own retry gives up after an HTTP error and waits long after others: we do it ourselves.
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
