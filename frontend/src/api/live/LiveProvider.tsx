import { useQueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { sessionKey } from "../session";
import type { Topic } from "../topics";
import type { LiveEvent, LiveStatus } from "./events";
import { LiveDocuments } from "./LiveDocuments";
import { followLive } from "./stream";

interface Listener {
  topics: readonly Topic[];
  onEvent: (event: LiveEvent) => void;
}

interface Live {
  status: LiveStatus;
  listen: (listener: Listener) => () => void;
}

const LiveContext = createContext<Live | null>(null);

/** Provider that follows the live stream and keeps the queries on screen up to date. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [status, setStatus] = useState<LiveStatus>("connecting");
  const listeners = useRef(new Set<Listener>());
  const following = useRef<LiveDocuments | null>(null);

  useEffect(() => {
    const heard = () => [...listeners.current].flatMap(({ topics }) => topics);
    const documents = new LiveDocuments(client, (...wanted) => stream.watch(...wanted), heard);
    following.current = documents;
    const stream = followLive({
      onStatus(now) {
        setStatus(now);
        // The server may refuse the stream because this browser signed out in another window.
        if (now === "away") void client.invalidateQueries({ queryKey: sessionKey }, { cancelRefetch: false });
      },
      onEvent(event) {
        documents.take(event);
        for (const { onEvent } of listeners.current) onEvent(event);
      },
    });
    return () => {
      following.current = null;
      documents.stop();
      stream.close();
    };
  }, [client]);

  const live = useMemo<Live>(
    () => ({
      status,
      listen(listener) {
        listeners.current.add(listener);
        following.current?.watchSoon();
        return () => {
          listeners.current.delete(listener);
          following.current?.watchSoon();
        };
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

/** Call back for notices of some topics, for data that is not a query, such as a log. Other events may come as well. */
export function useLiveEvents(topics: readonly Topic[], onEvent: (event: LiveEvent) => void): void {
  const { listen } = useLive();
  const latest = useRef(onEvent);
  useEffect(() => {
    latest.current = onEvent;
  });
  const wanted = JSON.stringify(topics);
  useEffect(
    () => listen({ topics: JSON.parse(wanted) as Topic[], onEvent: (event) => latest.current(event) }),
    [listen, wanted],
  );
}
