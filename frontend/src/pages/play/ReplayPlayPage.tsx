import { Anchor, Button, Group, Kbd, Stack, Text, Title } from "@mantine/core";
import { IconDeviceGamepad2, IconRobot } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useParams, useSearchParams } from "react-router";
import { continuedPlayQuery, useContinueReplay } from "@/api/liveGames";
import type { PlayedGame } from "@/api/types";
import { ActionBars } from "@/replays/ActionBars";
import { MOMENT, WHAT_IF } from "@/replays/moment";
import type { Send, View } from "@/stage/broadcast";
import { Controller } from "@/stage/Controller";
import { KeepButton, NewGameButton, PauseButton } from "@/stage/GameButtons";
import { KeptGamesOfReplay } from "@/stage/KeptGames";
import type { Scene } from "@/stage/protocol";
import { Fact, Readout } from "@/stage/Readout";
import { Stage } from "@/stage/Stage";
import { type Hands, useHands } from "@/stage/useHands";
import { useStage } from "@/stage/useStage";
import { isOver, whyNoPicture } from "@/stage/words";
import { duration, exact, plural, score } from "@/ui/format";
import { Reason } from "@/ui/Reason";
import { useShortcuts } from "@/ui/shortcuts";
import { usePageTitle } from "@/ui/usePageTitle";
import { LoadedGame } from "./LoadedGame";
import { StartGame } from "./StartGame";
import thoughts from "@/replays/thoughts.module.css";
import sheet from "@/ui/sheet.module.css";

/** /replays/12/play?decision=130 continues a replay with a human player, at /replays/12/play/5. */
export default function ReplayPlayPage() {
  const { replay = "", id } = useParams();
  const [search] = useSearchParams();
  const decision = Number(search.get("decision"));
  const title = `Play from decision ${exact(decision + 1)}`;
  const address = `/replays/${replay}/play`;
  usePageTitle(title);
  return (
    <Stack className={sheet.sheet} gap="md">
      {id === undefined ? (
        <>
          <Title order={1}>{title}</Title>
          <NewGame
            replay={Number(replay)}
            decision={decision}
            addressOf={(game) => `${address}/${game}?${search}`}
          />
        </>
      ) : (
        <LiveGame
          key={id}
          title={title}
          replay={Number(replay)}
          id={Number(id)}
          againUrl={`${address}?${search}`}
        />
      )}
    </Stack>
  );
}

interface NewGameProps {
  replay: number;
  decision: number;
  addressOf: (id: number) => string;
}

function NewGame({ replay, decision, addressOf }: NewGameProps) {
  const { mutateAsync } = useContinueReplay(replay);
  return <StartGame start={() => mutateAsync(decision)} addressOf={addressOf} />;
}

interface LiveGameProps {
  title: string;
  replay: number;
  id: number;
  /** Address that starts another game. */
  againUrl: string;
}

function LiveGame({ title, replay, id, againUrl }: LiveGameProps) {
  const [search] = useSearchParams();
  const query = useQuery(continuedPlayQuery(replay, id));
  const back = new URLSearchParams({
    replays: String(replay),
    [MOMENT]: search.get(MOMENT) ?? "0",
    [WHAT_IF]: "",
  });
  return (
    <>
      <Group gap="sm" align="baseline">
        <Title order={1}>{title}</Title>
        {query.data && (
          <Anchor component={Link} to={`/runs/${query.data.run_id}/replays?${back}`} size="sm">
            Back to the replay
          </Anchor>
        )}
      </Group>
      <LoadedGame
        query={query}
        againUrl={againUrl}
        stage={(game, again) => <ContinuedStage game={game} again={again} />}
        below={() => <KeptGamesOfReplay replay={replay} />}
      />
    </>
  );
}

interface ContinuedStageProps {
  game: PlayedGame;
  /** Link that starts another game. */
  again: ReactNode;
}

/** Screen, controls and status of a game in which a person continues a replay, alternating with its agent. */
function ContinuedStage({ game, again }: ContinuedStageProps) {
  const stage = useStage(game.id, game.env);
  const { view, send } = stage;
  const hands = useHands(view, send, true);
  const sentence = whyNoPicture(game.state, view, "Playing the replay up to this decision.");
  return (
    <Stage
      stage={stage}
      label="continued by a human player"
      hint={describeWait(view, hands)}
      sentence={
        sentence && (
          <>
            <Text fw={600}>{sentence}</Text>
            <Reason of={game} />
            {isOver(game.state, view) && again}
          </>
        )
      }
    >
      {view.scene && <Controls scene={view.scene} send={send} hands={hands} disabled={!view.playing} />}
      {!sentence && <Reason of={game} />}
      {(!view.scene || hands.mine || hands.free) && (
        <Controller scene={view.scene} hold={hands.hold} restarts="start again">
          <span>
            <Kbd>T</Kbd> change the player
          </span>
        </Controller>
      )}
      <Status view={view} hands={hands} />
    </Stage>
  );
}

/** Return what the game waits for. */
function describeWait({ scene, head }: View, { mine, free }: Hands): string | null {
  if (!scene) return null;
  if (scene.over) {
    const points =
      head && scene.origin ? `: ${plural(head.score - scene.origin.score, "point")} from here` : "";
    return `Game over${points}.${mine || free ? " Press R to start again." : ""}`;
  }
  if (scene.waiting) return mine || free ? "Press a key to take over" : "Waiting for the player";
  return scene.paused ? "Paused" : null;
}

interface ControlsProps {
  scene: Scene;
  send: Send;
  hands: Hands;
  disabled: boolean;
}

function Controls({ scene, send, hands: { mine, free }, disabled }: ControlsProps) {
  const blocked = disabled || !(mine || free);
  const handsOver = mine || scene.waiting;
  const change = () => send({ order: handsOver ? "let agent play" : "take over" });
  useShortcuts([
    {
      keys: "t",
      does: "take over from the agent, or hand to it",
      run: () => {
        if (!blocked && !scene.over) change();
      },
    },
  ]);
  const Icon = handsOver ? IconRobot : IconDeviceGamepad2;
  return (
    <div>
      <Group gap={8}>
        <Button
          size="xs"
          disabled={blocked || scene.over}
          leftSection={<Icon size={14} aria-hidden />}
          onClick={change}
        >
          {handsOver ? "Hand to the agent" : "Take over"}
        </Button>
        <PauseButton scene={scene} send={send} disabled={blocked || scene.over} />
        <NewGameButton send={send} disabled={blocked}>
          Start again
        </NewGameButton>
        <KeepButton send={send} disabled={blocked} />
      </Group>
      {scene.hands !== null && !mine && (
        <Text size="sm" mt={8}>
          You are watching another player. You can play after they leave.
        </Text>
      )}
    </div>
  );
}

function Status({ view: { scene, head, latency }, hands: { mine } }: { view: View; hands: Hands }) {
  if (!scene?.origin || !scene.agent || !head) return null;
  const { origin, agent, action_names, waiting, can_rest, pictures_per_second } = scene;
  const player = mine ? "You" : scene.hands !== null ? "Another person" : waiting ? "–" : "The agent";
  return (
    <div className={thoughts.thoughts}>
      <Readout>
        <Fact is="Score from here">{score(head.score - origin.score)}</Fact>
        <Fact is="Total score">{score(head.score)}</Fact>
        {head.lives >= 0 && <Fact is="Lives">{head.lives}</Fact>}
        <Fact is="Time from here">{duration((head.frames - origin.frames) / pictures_per_second)}</Fact>
        <Fact is="Player">{player}</Fact>
        <Fact is="Value">{head.value === null ? "–" : score(head.value)}</Fact>
        <Fact is="Input latency">{latency === null ? "–" : `${Math.ceil(latency)} ms`}</Fact>
      </Readout>
      {head.numbers.length > 0 && (
        <ActionBars
          thoughts={{
            head: { numbers_kind: agent.numbers_kind, action_names },
            numbers: [head.numbers],
            action: [head.action ?? -1],
          }}
          decision={0}
        />
      )}
      <Text size="xs" c="dimmed">
        The agent watches while you play, so that it can continue at any time.
        {!can_rest && " The game moves only while you hold a key."}
      </Text>
    </div>
  );
}
