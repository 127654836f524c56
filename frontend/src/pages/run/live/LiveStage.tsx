import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { liveGameQuery } from "@/api/liveGames";
import type { LiveGame, Run } from "@/api/types";
import { Controller } from "@/stage/Controller";
import { Stage } from "@/stage/Stage";
import { useHands } from "@/stage/useHands";
import { useStage } from "@/stage/useStage";
import { isOver, whyNoPicture } from "@/stage/words";
import { Reason } from "@/ui/Reason";
import { LiveControls } from "./LiveControls";
import { LiveThoughts } from "./LiveThoughts";

interface LiveStageProps {
  run: Run;
  initialGame: LiveGame;
  onRestart: () => void;
}

/** Picture of a live game, with controls and the agent's values and probabilities. */
export function LiveStage({ run, initialGame, onRestart }: LiveStageProps) {
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
