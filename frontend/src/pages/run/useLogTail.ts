import { useCallback, useEffect, useRef, useState } from "react";
import { fetchLog } from "@/api/logs";
import { useLiveEvents } from "@/api/live/LiveProvider";
import { ofRuns } from "@/api/topics";
import type { LogLine } from "@/api/types";
import { appendLines, mergeLines } from "./logLines";

const PAGE_SIZE = 500;
/** Limit of loaded lines. Older lines are dropped and fetched again on request. */
const MAX_LINES = 20_000;

interface Tail {
  /** Undefined until the first response. */
  lines: LogLine[] | undefined;
  hasOlder: boolean;
  error: Error | null;
}

const EMPTY_TAIL: Tail = { lines: undefined, hasOlder: false, error: null };

/** Load the end of a run's log and follow new lines. `loadOlder` loads earlier lines. */
export function useLogTail(
  runId: number,
  search: string,
): Tail & { loadOlder: () => void; retry: () => void } {
  const [tail, setTail] = useState<Tail>(EMPTY_TAIL);
  const loaded = useRef<LogLine[] | undefined>(undefined);
  const fetchNewer = useRef<() => void>(() => undefined);
  const unmountSignal = useRef<AbortSignal | undefined>(undefined);

  const addLines = useCallback((arrived: LogLine[], hasOlder?: boolean) => {
    const before = loaded.current ?? [];
    // Without `hasOlder` the lines are new, so the oldest may be dropped.
    const lines =
      hasOlder === undefined ? appendLines(before, arrived, MAX_LINES) : mergeLines(before, arrived);
    const hasDropped = before.length > 0 && lines[0]?.id !== before[0]?.id;
    loaded.current = lines;
    setTail((previous) => ({ lines, hasOlder: hasOlder ?? (hasDropped || previous.hasOlder), error: null }));
  }, []);

  const fail = useCallback((error: unknown) => {
    const problem = error instanceof Error ? error : new Error(String(error));
    setTail((previous) => ({ ...previous, error: problem }));
  }, []);

  useEffect(() => {
    const controller = new AbortController();
    unmountSignal.current = controller.signal;
    loaded.current = undefined;
    let isFetching = false;
    let fetchAgain = false;

    async function follow() {
      // Only one request runs at a time. Lines written during a request are fetched after it.
      fetchAgain = true;
      if (isFetching) return;
      isFetching = true;
      try {
        while (fetchAgain) {
          fetchAgain = false;
          const after = loaded.current?.at(-1)?.id;
          const page = await fetchLog(runId, { after, limit: PAGE_SIZE, search }, controller.signal);
          addLines(page.items, after === undefined ? page.items.length >= PAGE_SIZE : undefined);
          if (after !== undefined && page.items.length >= PAGE_SIZE) fetchAgain = true;
        }
      } catch (error) {
        if (!controller.signal.aborted) fail(error);
      } finally {
        isFetching = false;
      }
    }

    fetchNewer.current = () => void follow();
    void follow();
    return () => {
      controller.abort();
      setTail(EMPTY_TAIL);
    };
  }, [runId, search, addLines, fail]);

  useLiveEvents(ofRuns([runId], "run.log"), (event) => {
    if (event.kind === "refetch" || (event.kind === "run.log" && (event.run_id ?? runId) === runId))
      fetchNewer.current();
  });

  const loadOlder = useCallback(() => {
    const before = loaded.current?.[0]?.id;
    const signal = unmountSignal.current;
    if (before === undefined) return;
    // Ignore the response if the search has changed.
    fetchLog(runId, { before, limit: PAGE_SIZE, search }, signal)
      .then((page) => signal?.aborted || addLines(page.items, page.items.length >= PAGE_SIZE))
      .catch((error: unknown) => signal?.aborted || fail(error));
  }, [runId, search, addLines, fail]);

  const retry = useCallback(() => fetchNewer.current(), []);
  return { ...tail, loadOlder, retry };
}

/** Fetch the whole log as text, page by page. */
export async function fetchWholeLog(runId: number, format: (line: LogLine) => string): Promise<string> {
  let text = "";
  let after = 0;
  for (;;) {
    const page = await fetchLog(runId, { after, limit: PAGE_SIZE });
    text += page.items.map(format).join("");
    const last = page.items.at(-1);
    if (!last || page.items.length < PAGE_SIZE) return text;
    after = last.id;
  }
}
