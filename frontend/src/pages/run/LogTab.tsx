import { Button, Code, Group, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type UIEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useLiveEvents } from "@/api/live/LiveProvider";
import { fetchLog } from "@/api/logs";
import { ofRuns } from "@/api/topics";
import type { LogLine, Run } from "@/api/types";
import { save } from "@/charts/csv";
import { exactTime, plural } from "@/ui/format";
import { outdatedMessage } from "@/ui/outdatedMessage";
import { QueryError } from "@/ui/QueryError";
import { availabilityText } from "@/ui/states";
import { appendLines, formatLine, mergeLines } from "./logLines";
import classes from "./log.module.css";

const LINE_HEIGHT_PX = 20;
/** Distance from the end that still counts as the end. */
const END_TOLERANCE_PX = 40;

/** Log of a run and its worker. It follows the end until the user scrolls up. */
export function LogTab({ run }: { run: Run }) {
  const [typed, setTyped] = useState("");
  const [search] = useDebouncedValue(typed.trim(), 300);
  const [following, setFollowing] = useState(true);
  const log = useLogTail(run.id, search);
  const download = useMutation({
    mutationFn: async () => {
      const text = await fetchWholeLog(run.id, formatLine);
      const traceback = run.failure?.traceback ?? "";
      save(`run-${run.id}.log`, new Blob([text, traceback], { type: "text/plain" }));
    },
  });

  if (log.error && !log.lines) return <QueryError error={log.error} retry={log.retry} />;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <TextInput
          type="search"
          aria-label="Search log"
          placeholder="Search log"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          style={{ flex: "1 1 200px", maxWidth: 360 }}
        />
        <Switch
          size="xs"
          label="Follow log"
          checked={following}
          onChange={(event) => setFollowing(event.currentTarget.checked)}
        />
        <Button size="xs" variant="default" loading={download.isPending} onClick={() => download.mutate()}>
          Download log
        </Button>
        <Text size="xs" c="dimmed" role="status">
          {log.error ? outdatedMessage(log.error) : formatCount(log.lines, search)}
        </Text>
      </Group>
      <Lines
        lines={log.lines}
        empty={log.lines ? emptyText(run, search) : "Loading log…"}
        hasOlder={log.hasOlder}
        onLoadOlder={log.loadOlder}
        following={following}
        onFollow={setFollowing}
      />
      {run.failure?.traceback && (
        <section aria-label="Traceback">
          <Title order={2} mb="xs">
            Traceback
          </Title>
          <Code block tabIndex={0}>
            {run.failure.traceback}
          </Code>
        </section>
      )}
    </Stack>
  );
}

function formatCount(lines: LogLine[] | undefined, search: string): string {
  if (!lines) return "Loading…";
  return plural(lines.length, search ? "match" : "line", search ? "matches" : "lines");
}

function emptyText(run: Run, search: string): string {
  if (search) return `No lines contain “${search}”.`;
  return availabilityText(
    run,
    "Log lines appear here as the run writes them.",
    "This run wrote no log lines.",
  );
}

interface LinesProps {
  lines: LogLine[] | undefined;
  empty: string;
  hasOlder: boolean;
  onLoadOlder: () => void;
  following: boolean;
  onFollow: (following: boolean) => void;
}

function Lines({ lines = [], empty, hasOlder, onLoadOlder, following, onFollow }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const lastScroll = useRef({ top: 0, height: 0 });
  // The rule is for the React compiler, which we do not use.
  // eslint-disable-next-line react-hooks/incompatible-library
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT_PX,
    getItemKey: (index) => lines[index]?.id ?? index,
    overscan: 30,
  });
  const first = lines[0]?.id;
  const last = lines.at(-1)?.id;

  // Keep the scroll position when older lines are added above.
  const firstBefore = useRef(first);
  useLayoutEffect(() => {
    const older = lines.findIndex(({ id }) => id === firstBefore.current);
    if (box.current && older > 0) box.current.scrollTop += older * LINE_HEIGHT_PX;
    firstBefore.current = first;
  }, [first, lines]);

  useEffect(() => {
    if (following && last !== undefined) rows.scrollToIndex(rows.options.count - 1, { align: "end" });
  }, [following, last, rows]);

  function onScroll(event: UIEvent<HTMLDivElement>) {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < END_TOLERANCE_PX;
    // If the height is unchanged, the user scrolled. Otherwise lines were added or dropped.
    const isScrollingUp = scrollHeight === lastScroll.current.height && scrollTop < lastScroll.current.top;
    lastScroll.current = { top: scrollTop, height: scrollHeight };
    if (isAtEnd && !following) onFollow(true);
    if (!isAtEnd && isScrollingUp && following) onFollow(false);
  }

  return (
    <div
      ref={box}
      className={classes.box}
      onScroll={onScroll}
      onWheel={(event) => event.deltaY < 0 && onFollow(false)}
      onKeyDown={(event) => ["ArrowUp", "PageUp", "Home"].includes(event.key) && onFollow(false)}
      onTouchMove={() => onFollow(false)}
      tabIndex={0}
      role="log"
      aria-label="Log"
    >
      {hasOlder && (
        <Button size="compact-xs" variant="subtle" onClick={onLoadOlder} m={4}>
          Show older lines
        </Button>
      )}
      {lines.length === 0 && (
        <Text size="sm" c="dimmed" p="md">
          {empty}
        </Text>
      )}
      <div style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((row) => {
          const line = lines[row.index];
          return (
            line && (
              <div
                key={row.key}
                ref={rows.measureElement}
                data-index={row.index}
                className={classes.line}
                data-level={line.level}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <time dateTime={line.time} title={`${exactTime(line.time)}, attempt ${line.attempt}`}>
                  {new Date(line.time).toLocaleTimeString(undefined, { hourCycle: "h23" })}
                </time>
                <span className={classes.level}>{line.level}</span>
                <span className={classes.message}>{line.message}</span>
              </div>
            )
          );
        })}
      </div>
      {!following && lines.length > 0 && (
        <Button className={classes.jump} size="xs" onClick={() => onFollow(true)}>
          Jump to end
        </Button>
      )}
    </div>
  );
}

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
function useLogTail(runId: number, search: string): Tail & { loadOlder: () => void; retry: () => void } {
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
async function fetchWholeLog(runId: number, format: (line: LogLine) => string): Promise<string> {
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
