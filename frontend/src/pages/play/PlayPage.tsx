import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useParams } from "react-router";
import { gameQuery } from "@/api/games";
import { playQuery, usePlayGame } from "@/api/liveGames";
import { projectsQuery } from "@/api/projects";
import type { PlayedGame } from "@/api/types";
import { KeptGameReview } from "@/replays/review/KeptGameReview";
import type { Send, View } from "@/stage/broadcast";
import { Controller } from "@/stage/Controller";
import { KeepButton, NewGameButton, PauseButton } from "@/stage/GameButtons";
import { KeptGames } from "@/stage/KeptGames";
import { Fact, Readout } from "@/stage/Readout";
import { Stage } from "@/stage/Stage";
import { type Hands, useHands } from "@/stage/useHands";
import { useStage } from "@/stage/useStage";
import { isOver, whyNoPicture } from "@/stage/words";
import { useUsualProject } from "@/ui/currentProject";
import { duration, exact, plural, score } from "@/ui/format";
import { Reason } from "@/ui/Reason";
import { usePageTitle } from "@/ui/usePageTitle";
import { LoadedGame } from "./LoadedGame";
import { StartGame } from "./StartGame";
import sheet from "@/ui/sheet.module.css";

/** /games/pong/play starts a game for a human player. Others can watch it at /games/pong/play/5. */
export default function PlayPage() {
  const { slug = "", id } = useParams();
  const { data } = useQuery(gameQuery(slug));
  const name = data?.name ?? slug;
  usePageTitle(`Play ${name}`);
  return (
    <Stack className={sheet.sheet} gap="md">
      <Group gap="sm" align="baseline">
        <Title order={1}>{`Play ${name}`}</Title>
        <Anchor component={Link} to={`/games/${slug}`} size="sm">
          Scores of {name}
        </Anchor>
      </Group>
      {id === undefined ? <NewGame slug={slug} /> : <LiveGame key={id} slug={slug} id={Number(id)} />}
    </Stack>
  );
}

function NewGame({ slug }: { slug: string }) {
  const { mutateAsync } = usePlayGame(slug);
  // The choice depends on the roles of the caller.
  const isLoaded = useQuery(projectsQuery).isFetched;
  const project = useUsualProject();
  if (!isLoaded) return null;
  return <StartGame start={() => mutateAsync(project)} addressOf={(id) => `/games/${slug}/play/${id}`} />;
}

function LiveGame({ slug, id }: { slug: string; id: number }) {
  return (
    <LoadedGame
      query={useQuery(playQuery(slug, id))}
      againUrl={`/games/${slug}/play`}
      stage={(game, again) => <PlayStage game={game} again={again} />}
      below={({ env }) => <KeptGames env={env} Review={KeptGameReview} />}
    />
  );
}

interface PlayStageProps {
  game: PlayedGame;
  /** Link that starts another game. */
  again: ReactNode;
}

/** Screen, controls and status of a game with a human player. */
function PlayStage({ game, again }: PlayStageProps) {
  const stage = useStage(game.id, game.env);
  const { view, send } = stage;
  const controls = useHands(view, send, true);
  const sentence = whyNoPicture(game.state, view, "Loading the game. This takes a few seconds.");
  const message = waitingMessage(view, controls);
  return (
    <Stage
      stage={stage}
      label="human player"
      sentence={
        sentence ? (
          <>
            <Text fw={600}>{sentence}</Text>
            <Reason of={game} />
            {isOver(game.state, view) && again}
          </>
        ) : (
          message && <Text fw={600}>{message}</Text>
        )
      }
    >
      <PlayControls view={view} send={send} mine={controls.mine} />
      {!sentence && <Reason of={game} />}
      {(!view.scene || controls.mine || controls.free) && (
        <Controller scene={view.scene} hold={controls.hold} />
      )}
      <GameStatus view={view} />
    </Stage>
  );
}

/** Return the message of a game that does not move. */
function waitingMessage({ scene, head }: View, { mine, free }: Hands): string | null {
  if (!scene) return null;
  const over = `Game over${head ? `: ${plural(head.score, "point")}` : ""}.`;
  if (scene.over) return mine || free ? `${over} Press R to play again.` : over;
  if (free) return `Press an arrow key${scene.has_fire ? " or Space" : ""} to start.`;
  return scene.paused ? "Paused." : null;
}

function PlayControls({ view: { scene }, send, mine }: { view: View; send: Send; mine: boolean }) {
  return (
    <div>
      <Group gap={8}>
        <PauseButton scene={scene} send={send} disabled={!mine} />
        <NewGameButton send={send} disabled={!mine} />
        <KeepButton send={send} disabled={!mine} />
      </Group>
      {scene && scene.hands !== null && !mine && (
        <Text size="sm" mt={8}>
          You are watching another player. You can play after they leave.
        </Text>
      )}
    </div>
  );
}

function GameStatus({ view: { scene, head, viewers, latency } }: { view: View }) {
  if (!scene || !head) return null;
  return (
    <div>
      <Readout>
        <Fact is="Score">{score(head.score)}</Fact>
        {head.lives >= 0 && <Fact is="Lives">{head.lives}</Fact>}
        <Fact is="Time">{duration(head.frames / scene.pictures_per_second)}</Fact>
        <Fact is="Game">{exact(head.game)}</Fact>
        <Fact is="Viewers">{exact(viewers)}</Fact>
        <Fact is="Input latency">{latency === null ? "–" : `${Math.ceil(latency)} ms`}</Fact>
      </Readout>
      <Text size="xs" c="dimmed" mt={8}>
        {plural(scene.pictures_per_second, "frame")} per second. Latency is the time from your last key to the
        first frame after it.
      </Text>
    </div>
  );
}
