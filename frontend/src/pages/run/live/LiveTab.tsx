import { Alert, Anchor, Button, Group, Slider, Stack, Text } from "@mantine/core";
import { IconBroadcastOff, IconDeviceGamepad2, IconPlayerSkipForward } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { liveGameQuery, useWatchLive } from "@/api/liveGames";
import type { LiveGame, Run } from "@/api/types";
import { ActionBars } from "@/replays/ActionBars";
import type { Send, View } from "@/stage/broadcast";
import { Controller } from "@/stage/Controller";
import { NewGameButton, PauseButton } from "@/stage/GameButtons";
import type { AgentOnStage } from "@/stage/protocol";
import { Fact, Readout } from "@/stage/Readout";
import { Stage } from "@/stage/Stage";
import { useLookedAt } from "@/stage/useBroadcast";
import { type Hands, useHands } from "@/stage/useHands";
import { useStage } from "@/stage/useStage";
import { isOver, whyNoPicture } from "@/stage/words";
import { EmptyState } from "@/ui/EmptyState";
import { exact, plural, score, short } from "@/ui/format";
import { Reason } from "@/ui/Reason";
import thoughtsClasses from "@/replays/thoughts.module.css";
import stageClasses from "@/stage/stage.module.css";
import classes from "./live.module.css";

/** Tab that shows the run's agent playing live. `?checkpoint=7` chooses a checkpoint, by default the newest. */
export function LiveTab({ run }: { run: Run }) {
  const [search] = useSearchParams();
  const chosen = Number(search.get("checkpoint"));
  const checkpoint = Number.isInteger(chosen) && chosen > 0 ? chosen : "newest";
  const hasBeenVisible = useLookedAt();
  const reason = run.actions.play;
  if (reason) {
    return (
      <EmptyState icon={IconBroadcastOff} title="This agent cannot play here">
        {reason} Its replays are still available.
      </EmptyState>
    );
  }
  if (!hasBeenVisible) return null;
  return <RequestedGame key={checkpoint} run={run} checkpoint={checkpoint} />;
}

function RequestedGame({ run, checkpoint }: { run: Run; checkpoint: number | "newest" }) {
  const { mutate, data: game, error } = useWatchLive(run.id);
  useEffect(() => mutate(checkpoint), [mutate, checkpoint]);
  const requestGame = () => mutate(checkpoint);
  return (
    <Stack gap="sm">
      {checkpoint !== "newest" && (
        <Text size="sm" c="dimmed">
          Playing one checkpoint.{" "}
          <Anchor component={Link} to={`/runs/${run.id}/live`}>
            Watch the newest checkpoint
          </Anchor>
        </Text>
      )}
      {error ? (
        <Alert color="red" variant="light" title="The live game could not be started">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">{error.message}</Text>
            <Button size="xs" variant="default" onClick={requestGame}>
              Try again
            </Button>
          </Stack>
        </Alert>
      ) : game ? (
        <LiveStage key={game.id} run={run} initialGame={game} onRestart={requestGame} />
      ) : (
        <Text c="dimmed">Starting the live game…</Text>
      )}
    </Stack>
  );
}

interface LiveStageProps {
  run: Run;
  initialGame: LiveGame;
  onRestart: () => void;
}

/** Picture of a live game, with controls and the agent's values and probabilities. */
function LiveStage({ run, initialGame, onRestart }: LiveStageProps) {
  const stage = useStage(initialGame.id, run.env);
  const { view, send } = stage;
  const { data: game = initialGame } = useQuery({
    ...liveGameQuery(run.id, initialGame.id),
    initialData: initialGame,
  });
  const hands = useHands(view, send, false);
  const status = whyNoPicture(game.state, view, "Loading the agent. This takes a few seconds.");
  return (
    <Stage
      stage={stage}
      label="played live"
      hint={hands.mine && view.scene?.can_rest === false ? "The game moves only while you hold a key" : null}
      sentence={
        status && (
          <>
            <Text fw={600}>{status}</Text>
            <Reason of={game} />
            {isOver(game.state, view) && (
              <Button size="xs" onClick={onRestart}>
                Watch again
              </Button>
            )}
          </>
        )
      }
    >
      <LiveControls view={view} send={send} hands={hands} />
      {hands.mine && <Controller scene={view.scene} hold={hands.hold} />}
      <LiveThoughts view={view} follows={game.follows} />
    </Stage>
  );
}

interface LiveControlsProps {
  view: View;
  send: Send;
  hands: Hands;
}

/** Controls of a live game. All viewers share the game, so they see the effect. */
function LiveControls({ view, send, hands }: LiveControlsProps) {
  const { scene } = view;
  const othersPlay = scene !== null && scene.hands !== null && !hands.mine;
  const isDisabled = !view.playing || scene === null || othersPlay;
  return (
    <div className={stageClasses.controls}>
      <Group gap={8}>
        {scene?.takes_hands && (
          <Button
            size="xs"
            disabled={isDisabled}
            leftSection={<IconDeviceGamepad2 size={14} aria-hidden />}
            onClick={() => send({ order: hands.mine ? "hand back" : "take over" })}
          >
            {hands.mine ? "Hand back" : "Take over"}
          </Button>
        )}
        <PauseButton scene={scene} send={send} disabled={isDisabled} />
        <Button
          size="xs"
          variant="default"
          disabled={isDisabled}
          leftSection={<IconPlayerSkipForward size={14} aria-hidden />}
          onClick={() => send({ order: "step" })}
        >
          Step
        </Button>
        <NewGameButton send={send} disabled={isDisabled} />
      </Group>
      {othersPlay && <Text size="sm">Another person is playing.</Text>}
      {scene?.agent && <Temperature agent={scene.agent} isDisabled={isDisabled || hands.mine} send={send} />}
    </div>
  );
}

const SLIDERS: Record<AgentOnStage["sampled"], { name: string; least: string; most: string }> = {
  policy: { name: "Temperature", least: "greedy", most: "sampled" },
  noise: { name: "Policy noise", least: "mean", most: "sampled" },
  random: { name: "Random actions", least: "greedy", most: "random" },
};

function Temperature({ agent, isDisabled, send }: { agent: AgentOnStage; isDisabled: boolean; send: Send }) {
  const { name, least, most } = SLIDERS[agent.sampled];
  const [value, setValue] = useState(agent.temperature);
  const [sharedValue, setSharedValue] = useState(agent.temperature);
  // Another viewer changed the value.
  if (sharedValue !== agent.temperature) {
    setSharedValue(agent.temperature);
    setValue(agent.temperature);
  }
  return (
    <div className={classes.temperature}>
      <Text size="xs" c="dimmed">
        {name}: {value.toFixed(2)}
      </Text>
      <Group gap={8} wrap="nowrap">
        <Text size="xs">{least}</Text>
        <Slider
          flex={1}
          min={0}
          max={1}
          step={0.05}
          label={null}
          value={value}
          disabled={isDisabled}
          thumbLabel={name}
          onChange={setValue}
          onChangeEnd={(chosen) => send({ order: "temperature", value: chosen })}
        />
        <Text size="xs">{most}</Text>
      </Group>
    </div>
  );
}

/** Score, value, action probabilities and viewers of a live game. */
function LiveThoughts({ view, follows }: { view: View; follows: boolean }) {
  const { scene, head } = view;
  if (!scene?.agent || !head) return null;
  const { action_names, agent } = scene;
  const { numbers_kind } = agent;
  return (
    <div className={thoughtsClasses.thoughts}>
      <Readout>
        <Fact is="Score">{score(head.score)}</Fact>
        <Fact is="Value">{head.value === null ? "–" : score(head.value)}</Fact>
        {head.lives >= 0 && <Fact is="Lives">{head.lives}</Fact>}
        <Fact is="Game">{exact(head.game)}</Fact>
        <Fact is="Checkpoint">{short(agent.step)}</Fact>
        <Fact is="Viewers">{exact(view.viewers)}</Fact>
        <Fact is="Delay">{view.delay === null ? "–" : `${Math.ceil(view.delay)} ms`}</Fact>
        {view.latency !== null && <Fact is="Input latency">{`${Math.ceil(view.latency)} ms`}</Fact>}
      </Readout>
      <Text size="sm" role="status">
        {scene.hands === null
          ? describeCheckpoint(agent.step, agent.loaded, follows)
          : "A person is playing."}
      </Text>
      {head.numbers.length > 0 && (
        <ActionBars
          thoughts={{
            head: { numbers_kind, action_names },
            numbers: [head.numbers],
            action: [head.action ?? -1],
          }}
          decision={0}
        />
      )}
      <Text size="xs" c="dimmed">
        {plural(scene.pictures_per_second, "frame")} per second. The delay is the round trip from this page to
        the game and back.
      </Text>
    </div>
  );
}

function describeCheckpoint(step: number, loaded: number, follows: boolean): string {
  const at = short(step, "steps");
  if (!follows) return `Playing the checkpoint at ${at}.`;
  if (loaded === 1) return `Playing the newest checkpoint, at ${at}. Newer ones replace it.`;
  return `Playing a newer checkpoint, at ${at}, after ${plural(loaded - 1, "change")}.`;
}
