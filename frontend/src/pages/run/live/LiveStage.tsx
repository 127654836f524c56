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
  asked: LiveGame;
  again: () => void;
}

/** The picture of a live game, what the agent thinks beside it, and what one can do. */
export function LiveStage({ run, asked, again }: LiveStageProps) {
  const stage = useStage(asked.id, run.env);
  const { view, send } = stage;
  const { data: game = asked } = useQuery({ ...liveGameQuery(run.id, asked.id), initialData: asked });
  const hands = useHands(view, send, false);
  const sentence = whyNoPicture(game.state, view, "The agent is being loaded, which takes some seconds.");
  return (
    <Stage
      stage={stage}
      label="played live"
      sentence={
        sentence && (
          <>
            <Text fw={600}>{sentence}</Text>
            <Reason of={game} />
            {isOver(game.state, view) && (
              <Button size="xs" onClick={again}>
                Watch again
              </Button>
            )}
          </>
        )
      }
    >
      <LiveControls view={view} send={send} hands={hands} />
      {hands.mine && <Controller hold={hands.hold} />}
      <LiveThoughts view={view} follows={game.follows} />
    </Stage>
  );
}
