import { useCallback, useEffect, useRef, useState } from "react";
import { fetchLog } from "@/api/logs";
import { useLiveEvents } from "@/api/live/LiveProvider";
import type { LogLine } from "@/api/types";
import { followed, merged } from "./logLines";

const PAGE = 500;
/** Lines that a page holds; of a run that writes for days, the older ones are fetched again when they are wanted. */
const MOST_LINES = 20_000;

interface Tail {
  /** undefined until the first answer. */
  lines: LogLine[] | undefined;
  hasOlder: boolean;
  error: Error | null;
}

const NOTHING: Tail = { lines: undefined, hasOlder: false, error: null };

/** The end of a run's log, growing as the run writes; older lines on demand. */
export function useLogTail(runId: number, search: string): Tail & { older: () => void; retry: () => void } {
  const [tail, setTail] = useState<Tail>(NOTHING);
  const held = useRef<LogLine[] | undefined>(undefined);
  const following = useRef<() => void>(() => undefined);
  const leaving = useRef<AbortSignal | undefined>(undefined);

  const take = useCallback((arrived: LogLine[], hasOlder?: boolean) => {
    const before = held.current ?? [];
    // Without word of older ones these are new, and the oldest give way.
    const lines = hasOlder === undefined ? followed(before, arrived, MOST_LINES) : merged(before, arrived);
    const given = before.length > 0 && lines[0]?.id !== before[0]?.id;
    held.current = lines;
    setTail((now) => ({ lines, hasOlder: hasOlder ?? (given || now.hasOlder), error: null }));
  }, []);

  const fail = useCallback((error: unknown) => {
    const problem = error instanceof Error ? error : new Error(String(error));
    setTail((now) => ({ ...now, error: problem }));
  }, []);

  useEffect(() => {
    const left = new AbortController();
    leaving.current = left.signal;
    held.current = undefined;
    let asking = false;
    let again = false;

    async function follow() {
      // One request at a time: lines written meanwhile are fetched afterwards.
      again = true;
      if (asking) return;
      asking = true;
      try {
        while (again) {
          again = false;
          const after = held.current?.at(-1)?.id;
          const page = await fetchLog(runId, { after, limit: PAGE, search }, left.signal);
          take(page.items, after === undefined ? page.items.length >= PAGE : undefined);
          if (after !== undefined && page.items.length >= PAGE) again = true;
        }
      } catch (error) {
        if (!left.signal.aborted) fail(error);
      } finally {
        asking = false;
      }
    }

    following.current = () => void follow();
    void follow();
    return () => {
      left.abort();
      setTail(NOTHING);
    };
  }, [runId, search, take, fail]);

  useLiveEvents((event) => {
    if (event.kind === "refetch" || (event.kind === "run.log" && event.run_id === runId)) following.current();
  });

  const older = useCallback(() => {
    const before = held.current?.[0]?.id;
    const signal = leaving.current;
    if (before === undefined) return;
    // Lines of another search do not belong to the one that is shown by then.
    fetchLog(runId, { before, limit: PAGE, search }, signal)
      .then((page) => signal?.aborted || take(page.items, page.items.length >= PAGE))
      .catch((error: unknown) => signal?.aborted || fail(error));
  }, [runId, search, take, fail]);

  const retry = useCallback(() => following.current(), []);
  return { ...tail, older, retry };
}

/** The whole log as text, page by page. */
export async function wholeLog(runId: number, write: (line: LogLine) => string): Promise<string> {
  let text = "";
  let after = 0;
  for (;;) {
    const page = await fetchLog(runId, { after, limit: PAGE });
    text += page.items.map(write).join("");
    const last = page.items.at(-1);
    if (!last || page.items.length < PAGE) return text;
    after = last.id;
  }
}
