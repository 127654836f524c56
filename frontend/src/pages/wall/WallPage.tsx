import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useFullscreenElement } from "@mantine/hooks";
import { IconMaximize, IconMinimize } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { Link } from "react-router";
import { runListQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { useShortcuts } from "@/ui/shortcuts";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./wall.module.css";
import { WallTile } from "./WallTile";

/** /wall: what is being trained now, each run with its newest pictures, made to be left open. */
export default function WallPage() {
  usePageTitle("Wall");
  const wall = useRef<HTMLUListElement>(null);
  const { ref, toggle, fullscreen } = useFullscreenElement<HTMLDivElement>();
  const list = useInfiniteQuery(runListQuery({ state: ["starting", "running"], sort: "created_at" }));
  const runs = list.data?.pages.flatMap(({ items }) => items);
  const total = list.data?.pages[0]?.total ?? 0;
  useWallKeys(wall, () => void toggle());
  if (!runs) {
    return (
      <Stack gap="md" className={classes.wall}>
        <Title order={1}>Wall</Title>
        {list.isError ? (
          <QueryError error={list.error} retry={() => void list.refetch()} />
        ) : (
          <Text c="dimmed" role="status">
            Loading the runs…
          </Text>
        )}
      </Stack>
    );
  }
  return (
    <div ref={ref} className={classes.wall}>
      <Group justify="space-between" wrap="nowrap" className={classes.head}>
        <Title order={1}>
          {runs.length > 0
            ? `${plural(total, "run")} being trained${total > runs.length ? `, the first ${runs.length} of them here` : ""}`
            : "Wall"}
        </Title>
        <Button
          size="xs"
          variant="default"
          leftSection={
            fullscreen ? <IconMinimize size={14} aria-hidden /> : <IconMaximize size={14} aria-hidden />
          }
          onClick={() => void toggle()}
        >
          {fullscreen ? "Leave full screen" : "Full screen"}
        </Button>
      </Group>
      {runs.length > 0 ? <Tiles runs={runs} wall={wall} /> : <Nothing />}
    </div>
  );
}

function Tiles({ runs, wall }: { runs: Run[]; wall: React.RefObject<HTMLUListElement | null> }) {
  return (
    <ul ref={wall} className={classes.tiles} data-count={Math.min(runs.length, 4)}>
      {runs.map((run) => (
        <li key={run.id}>
          <WallTile run={run} />
        </li>
      ))}
    </ul>
  );
}

function Nothing() {
  return (
    <EmptyState title="Nothing is being trained now">
      <Stack align="center" gap="md">
        <span>
          While runs train, this page plays the newest replay of each. Leave it open on a big screen.
        </span>
        <Button component={Link} to="/launch">
          Launch a run
        </Button>
      </Stack>
    </EmptyState>
  );
}

/** The arrows go from run to run, f fills the screen; Enter opens a run as it does any link. */
function useWallKeys(wall: React.RefObject<HTMLUListElement | null>, fill: () => void) {
  const go = (by: number) => {
    const links = [...(wall.current?.querySelectorAll("a") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    links[(Math.max(at, by > 0 ? at : 0) + by + links.length) % links.length]?.focus();
  };
  useShortcuts([
    { keys: "ArrowRight", does: "the next run", run: () => go(1) },
    { keys: "ArrowDown", does: "the next run", run: () => go(1) },
    { keys: "ArrowLeft", does: "the run before", run: () => go(-1) },
    { keys: "ArrowUp", does: "the run before", run: () => go(-1) },
    { keys: "f", does: "fill the screen", run: fill },
  ]);
}
