import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconDeviceGamepad2, IconPlus, IconTrophy } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { gameQuery } from "@/api/games";
import { byProject } from "@/api/projectFilter";
import { useMayWrite } from "@/api/projects";
import type { Game } from "@/api/types";
import { KeptGameReview } from "@/replays/review/KeptGameReview";
import { KeptGames } from "@/stage/KeptGames";
import { useCurrentProject } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { plural, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { usePageTitle } from "@/ui/usePageTitle";
import { GamePicture } from "./GamePicture";
import classes from "./games.module.css";
import { hasBars, ScoreTableCard } from "./ScoreTableCard";
import { StartSets } from "./StartSets";
import { WaitingRuns } from "./WaitingRuns";

/** One game with its runs and the published scores, ranked by protocol. */
export default function GamePage() {
  const { slug = "" } = useParams();
  const game = useQuery(gameQuery(slug, useCurrentProject()));
  usePageTitle(game.data?.name ?? "Games");
  return (
    <Stack className={classes.sheet} gap="md">
      {game.isError && !game.data && (
        <>
          <Title order={1}>Games</Title>
          <QueryError error={game.error} retry={() => void game.refetch()} />
          <Anchor component={Link} to="/games">
            All games
          </Anchor>
        </>
      )}
      {game.isPending && (
        <>
          <Title order={1}>{slug}</Title>
          <Skeleton height={320} radius="sm" role="status" aria-label="Loading the game…" />
        </>
      )}
      {game.data && <GameSheet game={game.data} />}
    </Stack>
  );
}

function GameSheet({ game }: { game: Game }) {
  const ranked = game.tables.filter((table) => table.apart_because === null);
  const unranked = game.tables.filter((table) => table.apart_because !== null);
  return (
    <>
      <GameHeader game={game} />
      {ranked.map((table) => (
        <ScoreTableCard key={`${table.protocol} ${table.starts}`} game={game} table={table} level={2} />
      ))}
      <WaitingRuns game={game} />
      <KeptGames env={game.env} Review={KeptGameReview} />
      {game.runs === 0 && game.tables.length === 0 && (
        <EmptyState icon={IconTrophy} title="No scores yet">
          The papers have no scores for {game.name}. Launch a run and evaluate its first checkpoint.
        </EmptyState>
      )}
      {unranked.length > 0 && (
        <Stack gap="md" component="section" aria-label="Other protocols">
          <div>
            <Title order={2}>{ranked.length > 0 ? "Other protocols" : "Published scores"}</Title>
            <Text size="sm" c="dimmed" maw={860}>
              Published scores for protocols not run here.
            </Text>
          </div>
          {unranked.filter(hasBars).map((table) => (
            <ScoreTableCard key={table.protocol} game={game} table={table} level={3} />
          ))}
          <div className={classes.small}>
            {unranked
              .filter((table) => !hasBars(table))
              .map((table) => (
                <ScoreTableCard key={table.protocol} game={game} table={table} level={3} />
              ))}
          </div>
        </Stack>
      )}
      <StartSets game={game} />
    </>
  );
}

function GameHeader({ game }: { game: Game }) {
  const project = useCurrentProject();
  const mayWrite = useMayWrite();
  const [playing, setPlaying] = useState(false);
  return (
    <header className={classes.header}>
      <div
        className={classes.portrait}
        data-empty={game.picture === null || undefined}
        onPointerEnter={() => setPlaying(true)}
        onPointerLeave={() => setPlaying(false)}
      >
        <GamePicture picture={game.picture} game={game.name} playing={playing} />
      </div>
      <Stack gap={4} miw={0}>
        <Anchor component={Link} to="/games" size="sm" w="fit-content">
          All games
        </Anchor>
        <Title order={1}>{game.name}</Title>
        <Text size="sm" c="dimmed">
          {game.env} ·{" "}
          {game.runs > 0 ? `${plural(game.runs, "run")}, ${game.evaluated_runs} with a score` : "no runs yet"}
        </Text>
        {game.picture && (
          <Text size="sm" c="dimmed">
            Played by{" "}
            <Anchor component={Link} to={`/runs/${game.picture.run_id}/replays`} inherit>
              run {game.picture.run_id}
            </Anchor>{" "}
            at {short(game.picture.step, "steps")}
          </Text>
        )}
        <Group gap="xs" mt={8}>
          {mayWrite && (
            <>
              <Button
                component={Link}
                to={`/launch?env=${encodeURIComponent(game.env)}`}
                leftSection={<IconPlus size={16} />}
                size="xs"
              >
                Launch a run of {game.name}
              </Button>
              <Button
                component={Link}
                to={`/games/${game.slug}/play`}
                leftSection={<IconDeviceGamepad2 size={16} />}
                size="xs"
              >
                Play
              </Button>
            </>
          )}
          {game.tables.length > 0 && (
            <DownloadCsv from={`/export/games/${game.slug}.csv`} query={byProject(project)} />
          )}
          {game.runs > 0 && (
            <Button component={Link} to={`/?env=${encodeURIComponent(game.env)}`} variant="default" size="xs">
              Show runs
            </Button>
          )}
        </Group>
      </Stack>
    </header>
  );
}
