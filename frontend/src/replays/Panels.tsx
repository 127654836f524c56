import { Group, Text } from "@mantine/core";
import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from "react";
import { fileAddress } from "@/api/client";
import { duration, exact, plural, score, short } from "@/ui/format";
import type { Shape } from "@/ui/useShape";
import type { Playhead } from "./clock";
import type { PlayableReplay } from "./places";
import { painted, type Saliencies, type SaliencyShown } from "./saliency";
import type { Thoughts } from "./track";
import type { Playback } from "./usePlayback";
import { useSaliencies } from "./useSaliency";
import { useDecision, useThoughts } from "./useThoughts";
import classes from "./replays.module.css";

/** Position of the network's input: hidden, next to the picture or over it. */
export type SeenPlace = "off" | "beside" | "over";

interface PanelsProps {
  replays: readonly PlayableReplay[];
  playback: Playback;
  shape: Shape;
  /** True to scale pixels without blurring. */
  pixelated: boolean;
  seen?: SeenPlace;
  /** Opacity of the network's input over the picture, from 0 to 1. */
  opacity?: number;
  /** The saliency shown over the picture. */
  saliency?: SaliencyShown;
  /** Caption and content below it. Default: the replay's facts. */
  caption?: (replay: PlayableReplay, panel: number) => ReactNode;
}

/** Replays side by side, each in the shape of its video. */
export function Panels({
  replays,
  playback,
  shape,
  pixelated,
  seen = "off",
  opacity = 0.6,
  saliency = "off",
  caption,
}: PanelsProps) {
  const { ensemble, playing, setPlaying } = playback;
  const style = { "--shape": shape.shape, "--seen-opacity": opacity } as CSSProperties;
  return (
    <div className={classes.panels} data-panels={replays.length} style={style}>
      {replays.map((replay, panel) => (
        <figure key={panel} className={classes.panel}>
          <div className={classes.pictures} data-seen={replay.seen_file_id === null ? "off" : seen}>
            <Player
              key={replay.id}
              playback={playback}
              head={ensemble.heads[panel]}
              className={pixelated ? "pixelated" : undefined}
              src={fileAddress(replay.file_id)}
              poster={replay.poster_file_id === null ? undefined : fileAddress(replay.poster_file_id)}
              label={`Replay at ${exact(replay.step, "steps")}`}
              onShape={shape.setShape}
              onClick={() => setPlaying(!playing)}
            />
            {seen !== "off" && replay.seen_file_id !== null && (
              <Player
                key={`${replay.id} seen`}
                playback={playback}
                className={`pixelated ${classes.seen}`}
                src={fileAddress(replay.seen_file_id)}
                label={`Network input at ${exact(replay.step, "steps")}`}
                onClick={() => setPlaying(!playing)}
              />
            )}
            {ensemble.heads[panel] && (
              <SaliencyOverlay replay={replay} head={ensemble.heads[panel]} shown={saliency} />
            )}
          </div>
          <figcaption>{caption ? caption(replay, panel) : <ReplayFacts replay={replay} />}</figcaption>
        </figure>
      ))}
    </div>
  );
}

interface PlayerProps {
  playback: Playback;
  head?: Playhead | undefined;
  className: string | undefined;
  src: string;
  poster?: string | undefined;
  label: string;
  onShape?: (shape: number) => void;
  onClick: () => void;
}

/** One video of the stage. */
function Player({ playback: { ensemble }, head, label, onShape, ...replay }: PlayerProps) {
  const element = useRef<HTMLVideoElement>(null);
  const [lost, setLost] = useState(false);
  useEffect(
    () => (element.current ? ensemble.join(element.current, head) : undefined),
    [ensemble, head, lost],
  );
  if (lost) return <Text className={classes.lost}>This replay could not be loaded.</Text>;
  return (
    <video
      ref={element}
      aria-label={label}
      muted
      playsInline
      preload="auto"
      onLoadedMetadata={({ currentTarget: { videoWidth, videoHeight } }) =>
        videoHeight > 0 && onShape?.(videoWidth / videoHeight)
      }
      onError={() => setLost(true)}
      {...replay}
    />
  );
}

export function ReplayFacts({ replay }: { replay: PlayableReplay }) {
  return (
    <Group gap="0 12px" wrap="wrap">
      <Text size="sm" fw={600} title={exact(replay.step, "steps")}>
        {short(replay.step, "steps")}
      </Text>
      <Text size="sm">return {score(replay.episode_return)}</Text>
      <Text size="sm" c="dimmed">
        {plural(replay.length, "step")}, {duration(replay.seconds)}
      </Text>
    </Group>
  );
}

interface SaliencyOverlayProps {
  replay: PlayableReplay;
  head: Playhead;
  shown: SaliencyShown;
}

/** Saliency over the picture, in sync with it. */
function SaliencyOverlay({ replay, head, shown }: SaliencyOverlayProps) {
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
