import { useQueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { sessionKey } from "../session";
import type { LiveEvent, LiveStatus } from "./events";
import { LiveDocuments } from "./LiveDocuments";
import { followLive } from "./stream";

interface Live {
  status: LiveStatus;
  listen: (listener: (event: LiveEvent) => void) => () => void;
}

const LiveContext = createContext<Live | null>(null);

/** Provider that follows the live stream and keeps the queries on screen up to date. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [status, setStatus] = useState<LiveStatus>("connecting");
  const listeners = useRef(new Set<(event: LiveEvent) => void>());

  useEffect(() => {
    const documents = new LiveDocuments(client, (watches) => stream.watch(watches));
    const stream = followLive({
      onStatus(now) {
        setStatus(now);
        // The server may refuse the stream because this browser signed out in another window.
        if (now === "away") void client.invalidateQueries({ queryKey: sessionKey }, { cancelRefetch: false });
      },
      onEvent(event) {
        documents.take(event);
        for (const listener of listeners.current) listener(event);
      },
    });
    return () => {
      documents.stop();
      stream.close();
    };
  }, [client]);

  const live = useMemo<Live>(
    () => ({
      status,
      listen(listener) {
        listeners.current.add(listener);
        return () => listeners.current.delete(listener);
      },
    }),
    [status],
  );
  return <LiveContext value={live}>{children}</LiveContext>;
}

function useLive(): Live {
  const live = use(LiveContext);
  if (!live) throw new Error("useLive needs a LiveProvider above it.");
  return live;
}

/** Return "away" while the server does not respond. */
export function useLiveStatus(): LiveStatus {
  return useLive().status;
}

/** Call back for every live event, for data that is not a query, such as a log. */
export function useLiveEvents(onEvent: (event: LiveEvent) => void): void {
  const { listen } = useLive();
  const latest = useRef(onEvent);
  useEffect(() => {
    latest.current = onEvent;
  });
  useEffect(() => listen((event) => latest.current(event)), [listen]);
}
