import { useReducedMotion } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useEnvironmentFamily } from "@/api/configuration";
import { fileAddress } from "@/api/client";
import { replaysQuery } from "@/api/replays";
import type { ListedRun, Replay } from "@/api/types";
import { score, short } from "@/ui/format";
import { RunDot } from "@/ui/RunDot";
import { RunName } from "@/ui/RunName";
import { hasAgent, originName } from "@/ui/states";
import classes from "./wall.module.css";

/** Tile of a run with its looping newest replay and progress. A click opens the run. */
export function WallTile({ run }: { run: ListedRun }) {
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

export function newestOf(replays: readonly Replay[]): (Replay & { file_id: number }) | undefined {
  const kept = replays.filter((replay): replay is Replay & { file_id: number } => replay.file_id !== null);
  return kept.sort((a, b) => b.step - a.step || b.id - a.id)[0];
}
