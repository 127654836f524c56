import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useFullscreenElement, useReducedMotion } from "@mantine/hooks";
import { IconDeviceTv, IconMaximize, IconMinimize } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { Link } from "react-router";
import { fileAddress } from "@/api/client";
import { useEnvironmentFamily } from "@/api/configuration";
import { byProject } from "@/api/projectFilter";
import { useMayWrite } from "@/api/projects";
import { replaysQuery } from "@/api/replays";
import { runListQuery } from "@/api/runs";
import type { ListedRun, Replay } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { plural, score, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { RunDot } from "@/ui/RunDot";
import { RunName } from "@/ui/RunName";
import { useShortcuts } from "@/ui/shortcuts";
import { hasAgent, originName } from "@/ui/states";
import { usePageTitle } from "@/ui/usePageTitle";
import classes from "./wall.module.css";

/** /wall: newest replays of the training runs of the current project or of all, for a big screen. */
export default function WallPage() {
  usePageTitle("Wall");
  const wall = useRef<HTMLUListElement>(null);
  const { ref, toggle, fullscreen } = useFullscreenElement<HTMLDivElement>();
  const project = useCurrentProject();
  const list = useInfiniteQuery(
    runListQuery({ state: ["starting", "running"], sort: "created_at", ...byProject(project) }),
  );
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
            ? `${plural(total, "run")} training${total > runs.length ? `, first ${runs.length} shown` : ""}`
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
      {runs.length > 0 ? <Tiles runs={runs} wall={wall} /> : <EmptyWall project={project} />}
    </div>
  );
}

function Tiles({ runs, wall }: { runs: ListedRun[]; wall: React.RefObject<HTMLUListElement | null> }) {
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

function EmptyWall({ project }: { project: string | null }) {
  const mayWrite = useMayWrite();
  return (
    <EmptyState
      icon={IconDeviceTv}
      title={project ? `No runs of ${project} are training` : "No runs are training"}
    >
      <Stack align="center" gap="md">
        <span>
          This page plays the newest replay of each training run.{mayWrite && " Launch a run to see it here."}
        </span>
        {mayWrite && (
          <Button component={Link} to="/launch">
            Launch run
          </Button>
        )}
      </Stack>
    </EmptyState>
  );
}

/** Arrow keys select a run, f toggles full screen, and Enter opens the run. */
function useWallKeys(wall: React.RefObject<HTMLUListElement | null>, toggleFullscreen: () => void) {
  const go = (by: number) => {
    const links = [...(wall.current?.querySelectorAll("a") ?? [])];
    const index = links.findIndex((link) => link === document.activeElement);
    links[(Math.max(index, by > 0 ? index : 0) + by + links.length) % links.length]?.focus();
  };
  useShortcuts([
    { keys: "ArrowRight", does: "next run", run: () => go(1) },
    { keys: "ArrowDown", does: "next run", run: () => go(1) },
    { keys: "ArrowLeft", does: "previous run", run: () => go(-1) },
    { keys: "ArrowUp", does: "previous run", run: () => go(-1) },
    { keys: "f", does: "full screen", run: toggleFullscreen },
  ]);
}

/** Tile of a run with its looping newest replay and progress. A click opens the run. */
function WallTile({ run }: { run: ListedRun }) {
  const replays = useQuery(replaysQuery(run.id));
  const newest = newestOf(replays.data ?? []);
  return (
    <Link to={`/runs/${run.id}`} className={classes.tile}>
      <div className={classes.screen}>
        <Pictures run={run} newest={newest} />
      </div>
      <div className={classes.words}>
        <span className={classes.name}>
          <RunDot run={run} />
          <RunName name={run.name} />
        </span>
        <span className={classes.numbers}>
          <span>{short(run.step, "steps")}</span>
          {run.last_return !== null && <span>return {score(run.last_return)}</span>}
          {newest && <span>played at {short(newest.step, "steps")}</span>}
        </span>
      </div>
    </Link>
  );
}

function Pictures({ run, newest }: { run: ListedRun; newest: (Replay & { file_id: number }) | undefined }) {
  const calm = useReducedMotion();
  const look = useEnvironmentFamily(run.env)?.is_pixel_art ? "pixelated" : undefined;
  const poster = newest?.poster_file_id ?? run.poster_file_id;
  if (newest && !calm) {
    return (
      <video
        key={newest.file_id}
        src={fileAddress(newest.file_id)}
        poster={poster === null ? undefined : fileAddress(poster)}
        className={look}
        aria-label={`Newest replay of ${run.name}`}
        autoPlay
        muted
        loop
        playsInline
      />
    );
  }
  if (poster !== null)
    return <img src={fileAddress(poster)} alt={`Latest frame of ${run.name}`} className={look} />;
  const words = !hasAgent(run)
    ? `Logged by ${originName(run)}. It has no replays.`
    : "The first replay comes with the first checkpoint.";
  return <span className={classes.noPicture}>{words}</span>;
}

function newestOf(replays: readonly Replay[]): (Replay & { file_id: number }) | undefined {
  const kept = replays.filter((replay): replay is Replay & { file_id: number } => replay.file_id !== null);
  return kept.sort((a, b) => b.step - a.step || b.id - a.id)[0];
}
