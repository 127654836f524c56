import {
  Alert,
  Anchor,
  Button,
  Group,
  NativeSelect,
  Skeleton,
  Stack,
  Switch,
  Text,
  Title,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDeviceGamepad2, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { gamesQuery } from "@/api/games";
import { byProject } from "@/api/projectFilter";
import { useMayWrite } from "@/api/projects";
import type { BestScore, GameAverage, GameCard, Games, MethodScore, RunScore } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { EmptyState } from "@/ui/EmptyState";
import { exact, humanPercent, plural, score } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { RunDot } from "@/ui/RunDot";
import { SearchField } from "@/ui/SearchField";
import { usePageTitle } from "@/ui/usePageTitle";
import { Averages } from "./Averages";
import { GamePicture } from "./GamePicture";
import { SuiteModal } from "./SuiteModal";
import { evaluationText, methodText } from "./texts";
import {
  BAR_END,
  barShare,
  bestRunBy,
  paramsOf,
  scoreBy,
  shownGames,
  shownProtocol,
  type Sort,
  SORTS,
  viewOf,
  type WallView,
} from "./wall";
import classes from "./games.module.css";

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

interface WallControlsProps {
  view: WallView;
  averages: readonly GameAverage[];
  protocol: string | undefined;
  /** Number of games without runs. */
  without: number;
  onChange: (changes: Partial<WallView>) => void;
}

/** Controls for search, order, protocol and games without runs. */
function WallControls({ view, averages, protocol, without, onChange }: WallControlsProps) {
  return (
    <Group gap="sm" role="search" aria-label="Filter games" className={classes.controls}>
      <SearchField
        label="Search games"
        placeholder="Search games"
        className={classes.search}
        maxLength={100}
        text={view.text}
        onSearch={(text) => onChange({ text })}
      />
      <NativeSelect
        size="xs"
        aria-label="Sort games"
        value={view.sort}
        onChange={(event) => onChange({ sort: event.currentTarget.value as Sort })}
        data={[...SORTS]}
      />
      {averages.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label="Score protocol"
          value={protocol ?? ""}
          onChange={(event) => onChange({ protocol: event.currentTarget.value })}
          data={averages.map((average) => ({
            value: average.protocol,
            label: `${average.title} (${average.games})`,
          }))}
        />
      )}
      <Switch
        size="xs"
        label={`Games without runs (${without})`}
        checked={view.all}
        onChange={(event) => onChange({ all: event.currentTarget.checked })}
      />
    </Group>
  );
}

interface GameTileProps {
  game: GameCard;
  /** Protocol of the score. */
  protocol: string | undefined;
}

/** Tile of a game with the mean of its best method. The replay of its best run plays on hover or focus. */
function GameTile({ game, protocol }: GameTileProps) {
  const [playing, setPlaying] = useState(false);
  const best = bestRunBy(game, protocol);
  const method = scoreBy(game, protocol);
  return (
    <article
      className={classes.tile}
      onPointerEnter={({ pointerType }) => setPlaying(pointerType === "mouse")}
      onPointerLeave={() => setPlaying(false)}
      onFocus={() => setPlaying(true)}
      onBlur={() => setPlaying(false)}
    >
      <GamePicture picture={best?.picture ?? game.picture} game={game.name} playing={playing} />
      <div className={classes.tileWords}>
        <div className={classes.tileHead}>
          <h2>
            <Link to={`/games/${game.slug}`} className={classes.cover}>
              {game.name}
            </Link>
          </h2>
          {method && (
            <span className={classes.tileScore}>
              <Score value={method.mean} meaning={`Mean of ${plural(method.runs, "run")}`} />
            </span>
          )}
        </div>
        {method && <Method method={method} best={best} />}
        {best ? <Best best={best} /> : <p className={classes.dim}>{withoutScore(game, protocol)}</p>}
      </div>
    </article>
  );
}

function Method({ method, best }: { method: MethodScore; best: BestScore | undefined }) {
  return (
    <>
      {best && <NormalizedBar score={{ ...best, human_normalized: method.human_normalized }} />}
      <p className={classes.from} title={methodText(method)}>
        {method.method}, {method.runs === 1 ? "1 run" : `mean of ${plural(method.runs, "run")}`}
      </p>
    </>
  );
}

/** The run with the best checkpoint, which is chosen by its score. */
function Best({ best }: { best: BestScore }) {
  return (
    <>
      <p className={classes.from} title={evaluationText(best)}>
        <span className={classes.bestScore} title="Score of the run's best checkpoint">
          Best {score(best.mean)}
        </span>
        <RunDot run={best.run} />
        <Link to={`/runs/${best.run.id}`} className={classes.above}>
          {best.run.name}
        </Link>
        <span className={classes.dim}>#{best.run.id}</span>
      </p>
      {best.short && <p className={classes.dim}>From {plural(best.episodes, "episode")} only</p>}
    </>
  );
}

function withoutScore({ best, runs }: GameCard, protocol: string | undefined): string {
  const [other] = best;
  if (other && protocol) return `No score by ${protocol}; ${score(other.mean)} by ${other.protocol}`;
  return `${plural(runs, "run")}, none evaluated yet`;
}

/** The human-normalized score as a bar up to 200 %, with a tick at the human score. */
type NormalizedScore = Pick<
  RunScore,
  "protocol" | "human_normalized" | "normalized_by" | "not_normalized_because"
>;

function NormalizedBar({ score }: { score: NormalizedScore }) {
  const { human_normalized: percent, normalized_by: by } = score;
  if (!by)
    return (
      <p
        className={classes.under}
        title={`No human-normalized score: ${score.not_normalized_because ?? ""}.`}
      >
        <span className={classes.dim}>Not human-normalized</span>
        <span className={classes.protocol}>{score.protocol}</span>
      </p>
    );
  const share = barShare(percent);
  const exactly = typeof percent === "number" ? exact(percent, "%") : percent;
  return (
    <div
      className={classes.normalized}
      title={`${exactly} of the human score, with random at 0 (${by.source}, ${by.table})`}
    >
      <div className={classes.bar} data-above={share >= 0.5 || undefined} aria-hidden>
        <div className={classes.fill} style={{ width: `${share * 100}%` }} />
        <div className={classes.tick} style={{ left: `${(100 / BAR_END) * 100}%` }} />
      </div>
      <p className={classes.under}>
        <span className={classes.percent}>
          {humanPercent(percent)}
          <span className={classes.dim}> of human</span>
        </span>
        <span className={classes.protocol}>{score.protocol}</span>
      </p>
    </div>
  );
}
