import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type CSSProperties, useCallback, useRef } from "react";
import { liveGameQuery } from "@/api/queries";
import type { LiveGame, Run } from "@/api/types";
import { Reason } from "../evaluations/Reason";
import { useShape } from "../replays/useShape";
import type { View } from "./broadcast";
import { LiveControls } from "./LiveControls";
import { LiveThoughts } from "./LiveThoughts";
import classes from "./live.module.css";
import { useBroadcast } from "./useBroadcast";

interface LiveStageProps {
  run: Run;
  asked: LiveGame;
  again: () => void;
}

/** The picture of a live game, what the agent thinks beside it, and what one can do. */
export function LiveStage({ run, asked, again }: LiveStageProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const isAtari = run.env.startsWith("ALE/");
  const { shape, setShape } = useShape(isAtari);
  const draw = useCallback(
    (image: ImageBitmap) => {
      const stage = canvas.current;
      if (!stage) return;
      if (stage.width !== image.width || stage.height !== image.height) {
        stage.width = image.width;
        stage.height = image.height;
        setShape(image.width / image.height);
      }
      stage.getContext("2d")?.drawImage(image, 0, 0);
    },
    [setShape],
  );
  const { view, send } = useBroadcast(asked.id, draw);
  const { data: game = asked } = useQuery({ ...liveGameQuery(run.id, asked.id), initialData: asked });
  const sentence = whyNoPicture(game, view);
  return (
    <section className={classes.live} style={{ "--shape": shape } as CSSProperties} aria-label="Live game">
      <div className={classes.stage} data-quiet={sentence !== null || undefined}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${run.env}, played live`}
          className={isAtari ? "pixelated" : undefined}
        />
        {sentence && (
          <div className={classes.sentence} role="status">
            <Text fw={600}>{sentence}</Text>
            <Reason evaluation={game} />
            {isOver(game, view) && (
              <Button size="xs" onClick={again}>
                Watch again
              </Button>
            )}
          </div>
        )}
      </div>
      <div className={classes.beside}>
        <LiveControls view={view} send={send} />
        <LiveThoughts view={view} follows={game.follows} />
      </div>
    </section>
  );
}

const isOver = (game: LiveGame, view: View) =>
  view.over !== null || (game.state !== "queued" && game.state !== "running");

/** In a sentence, why no picture comes; null while some do. */
export function whyNoPicture(game: LiveGame, view: View): string | null {
  if (game.state === "failed") return "The game could not go on.";
  if (isOver(game, view)) return "This game is over.";
  if (view.playing) return null;
  if (!view.connected && view.scene) return "The connection to the server is lost. It comes back by itself.";
  if (view.scene) return "The playing process is gone. Another one is started.";
  if (game.state === "queued") return "It does not play yet.";
  return "The agent is being loaded, which takes some seconds.";
}
