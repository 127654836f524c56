import { useEffect, useRef } from "react";
import type { Playhead } from "./clock";
import type { PlayableReplay } from "./places";
import classes from "./replays.module.css";
import { painted, type Saliencies, type SaliencyShown } from "./saliency";
import type { Thoughts } from "./track";
import { useSaliencies } from "./useSaliency";
import { useDecision, useThoughts } from "./useThoughts";

interface SaliencyOverlayProps {
  replay: PlayableReplay;
  head: Playhead;
  shown: SaliencyShown;
}

/** Saliency over the picture, in sync with it. */
export function SaliencyOverlay({ replay, head, shown }: SaliencyOverlayProps) {
  const thoughts = useThoughts(replay).data;
  const found = useSaliencies(replay).data;
  if (shown === "off" || !thoughts || !found) return null;
  return <Painted thoughts={thoughts} found={found} head={head} shown={shown} />;
}

interface PaintedProps {
  thoughts: Thoughts;
  found: Saliencies;
  head: Playhead;
  shown: SaliencyShown;
}

function Painted({ thoughts, found, head, shown }: PaintedProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const decision = useDecision(thoughts, head);
  const side = found.rows;
  useEffect(() => {
    const image = new ImageData(painted(found, decision, shown), side, side);
    canvas.current?.getContext("2d")?.putImageData(image, 0, 0);
  }, [found, decision, shown, side]);
  return (
    <canvas
      ref={canvas}
      className={classes.saliency}
      width={side}
      height={side}
      role="img"
      aria-label="Saliency over the picture"
      data-decision={decision}
    />
  );
}
