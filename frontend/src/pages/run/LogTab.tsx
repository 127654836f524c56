import { Button, Code, Group, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type UIEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { LogLine, Run } from "@/api/types";
import { save } from "@/charts/csv";
import { exactTime, plural } from "@/ui/format";
import { outdatedMessage } from "@/ui/outdatedMessage";
import { QueryError } from "@/ui/QueryError";
import { availabilityText } from "@/ui/states";
import classes from "./log.module.css";
import { formatLine } from "./logLines";
import { fetchWholeLog, useLogTail } from "./useLogTail";

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
