import { Alert, Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDeviceGamepad2, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { gamesQuery } from "@/api/games";
import { byProject } from "@/api/projectFilter";
import { useMayWrite } from "@/api/projects";
import type { GameCard, Games } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { usePageTitle } from "@/ui/usePageTitle";
import { Averages } from "./Averages";
import classes from "./games.module.css";
import { GameTile } from "./GameTile";
import { SuiteModal } from "./SuiteModal";
import { paramsOf, shownGames, shownProtocol, viewOf, type WallView } from "./wall";
import { WallControls } from "./WallControls";

/** List of Atari games with their best scores. */
export default function GamesPage() {
  usePageTitle("Games");
  const project = useCurrentProject();
  const games = useQuery(gamesQuery(project));
  const [isSuiteOpen, suite] = useDisclosure(false);
  return (
    <Stack className={classes.sheet} gap="md">
      <Group justify="space-between" gap="sm">
        <Stack gap={4}>
          <Title order={1}>Games</Title>
          <Text size="sm" c="dimmed" role="status">
            {games.data && summary(games.data.games)}
          </Text>
        </Stack>
        <Group gap="xs">
          {games.data?.games.some(hasScore) && (
            <DownloadCsv from="/export/games.csv" query={byProject(project)} />
          )}
          <Button size="xs" leftSection={<IconPlayerPlay size={16} />} onClick={suite.open}>
            Run a suite
          </Button>
        </Group>
      </Group>
      {isSuiteOpen && <SuiteModal onClose={suite.close} />}
      {games.isError && !games.data && <QueryError error={games.error} retry={() => void games.refetch()} />}
      {games.isPending && <Skeleton height={320} radius="sm" role="status" aria-label="Loading games…" />}
      {games.data && <Wall games={games.data} />}
    </Stack>
  );
}

const hasRuns = ({ runs }: GameCard): boolean => runs > 0;

const hasScore = ({ best }: GameCard): boolean => best.length > 0;

function summary(games: readonly GameCard[]): string {
  const played = games.filter(hasRuns);
  const scored = played.filter(hasScore);
  if (played.length === 0) return "No runs of Atari games yet";
  return `${plural(played.length, "game")} with runs, ${scored.length} with a score`;
}

function Wall({ games }: { games: Games }) {
  const [params, setParams] = useSearchParams();
  const view = viewOf(params);
  const change = (changes: Partial<WallView>) =>
    setParams((now) => paramsOf({ ...viewOf(now), ...changes }), { replace: true });
  const protocol = shownProtocol(games.averages, view.protocol)?.protocol;
  const shown = shownGames(games.games, view, protocol);
  const played = games.games.filter(hasRuns).length;
  return (
    <>
      {games.averages.length > 0 && <Averages games={games} />}
      {played > 0 && games.averages.length === 0 && <FirstScore />}
      <WallControls
        view={view}
        averages={games.averages}
        protocol={protocol}
        without={games.games.length - played}
        onChange={change}
      />
      {played === 0 && !view.all && <NoRuns onAll={() => change({ all: true })} />}
      {shown.length === 0 && (played > 0 || view.all) && (
        <EmptyState title={`No game matches “${view.text.trim()}”`}>
          {!view.all && "Turn on the switch above to include games without runs."}
        </EmptyState>
      )}
      <div className={classes.wall}>
        {shown.filter(hasRuns).map((game) => (
          <GameTile key={game.slug} game={game} protocol={protocol} />
        ))}
      </div>
      <WithoutRuns games={shown.filter((game) => !hasRuns(game))} />
    </>
  );
}

/** Games that have only published scores. */
function WithoutRuns({ games }: { games: readonly GameCard[] }) {
  if (games.length === 0) return null;
  return (
    <section aria-label="Games without runs">
      <Title order={2} mb="xs">
        Games without runs
      </Title>
      <div className={classes.plain}>
        {games.map(({ slug, name, published }) => (
          <div key={slug} className={classes.plainGame}>
            <Link to={`/games/${slug}`} className={classes.cover}>
              {name}
            </Link>
            <span className={classes.dim}>{plural(published, "published score")}</span>
          </div>
        ))}
      </div>
    </section>
  );
}

/** Explains how to get a first score without runs. */
function NoRuns({ onAll }: { onAll: () => void }) {
  const mayWrite = useMayWrite();
  return (
    <EmptyState icon={IconDeviceGamepad2} title="No games with runs yet">
      <Stack align="center" gap="md">
        <span>
          Launch a run of an Atari game and evaluate its first checkpoint. Its score then appears here next to
          the published scores. You can also open any game and play it yourself.
        </span>
        <Group gap="xs" justify="center">
          {mayWrite && (
            <Button component={Link} to="/launch?preset=paac-pong">
              Launch PAAC on Pong
            </Button>
          )}
          <Button variant="default" onClick={onAll}>
            Show all games
          </Button>
        </Group>
      </Stack>
    </EmptyState>
  );
}

/** Explains how to get a first score with runs. */
function FirstScore() {
  const mayWrite = useMayWrite();
  return (
    <Alert variant="light" p="sm" title="No scores yet">
      <Text size="sm">
        Open a game and press “Evaluate” next to a run. A worker then plays episodes from its newest
        checkpoint.
        {mayWrite && (
          <>
            {" "}
            To evaluate automatically, set “Steps between evaluations” when you{" "}
            <Anchor component={Link} to="/launch" inherit c="inherit">
              launch a run
            </Anchor>
            .
          </>
        )}
      </Text>
    </Alert>
  );
}
