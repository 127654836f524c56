import { HoverCard, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { fileAddress } from "@/api/client";
import { MAIN_PROJECT } from "@/api/projects";
import { replaysQuery } from "@/api/replays";
import type { ListedRun } from "@/api/types";
import { newestFirst } from "@/replays/places";
import { useCurrentProject } from "@/ui/currentProject";
import { short } from "@/ui/format";
import { OriginBadge } from "@/ui/OriginBadge";
import { Score } from "@/ui/Quantity";
import { RunName } from "@/ui/RunName";
import { Thumbnail } from "@/ui/Thumbnail";
import { BaselineMark, CurveDot, PinButton } from "./CurveChoice";
import { useRowDensity } from "./useDensity";
import classes from "./runs.module.css";

/** Color, latest frame and linked name of a run. */
export function RunCell({ run }: { run: ListedRun }) {
  const showsAll = useCurrentProject() === null;
  const isCompact = useRowDensity() === "compact";
  return (
    <div className={classes.run}>
      <CurveDot run={run} />
      <ReplayPreview run={run}>
        <Thumbnail fileId={run.poster_file_id} size={isCompact ? 24 : 40} alt="" />
      </ReplayPreview>
      <div className={classes.runWords}>
        <Link to={`/runs/${run.id}`} className={classes.runLink}>
          <RunName name={run.name} wraps />
        </Link>
        <span className={classes.dim}>
          #{run.id} <BaselineMark run={run} />
          <OriginBadge run={run} />
          {run.parent?.run_id && ` · from #${run.parent.run_id}`}
          {showsAll && run.project !== MAIN_PROJECT && ` · ${run.project}`}
        </span>
      </div>
      <PinButton run={run} />
    </div>
  );
}

const OPEN_DELAY_MS = 300;

/** Plays the newest replay of a run while the pointer is over the content. */
export function ReplayPreview({ run, children }: { run: ListedRun; children: ReactNode }) {
  if (run.poster_file_id === null) return children;
  return (
    <HoverCard withRoles={false} openDelay={OPEN_DELAY_MS} position="right" withArrow shadow="md">
      <HoverCard.Target>
        <span className={classes.picture}>{children}</span>
      </HoverCard.Target>
      <HoverCard.Dropdown p="xs">
        <NewestReplay run={run} />
      </HoverCard.Dropdown>
    </HoverCard>
  );
}

function NewestReplay({ run }: { run: ListedRun }) {
  const { data } = useQuery(replaysQuery(run.id));
  const [newest] = newestFirst(data ?? []);
  if (!newest) return <Text size="sm">{data ? "No replay yet" : "Loading replay…"}</Text>;
  return (
    <>
      <video
        className={`pixelated ${classes.preview}`}
        src={fileAddress(newest.file_id)}
        poster={newest.poster_file_id === null ? undefined : fileAddress(newest.poster_file_id)}
        aria-label={`Newest replay of ${run.name}`}
        autoPlay
        muted
        loop
      />
      <Text size="xs" c="dimmed">
        After {short(newest.step, "steps")}, return{" "}
        <Score value={newest.episode_return} meaning="Return of this episode" />
      </Text>
    </>
  );
}
