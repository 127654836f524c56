import { Group, Text } from "@mantine/core";
import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from "react";
import { fileAddress } from "@/api/client";
import { duration, exact, plural, score, short } from "@/ui/format";
import type { Playhead } from "./clock";
import type { Replay } from "./places";
import type { SaliencyShown } from "./saliency";
import { SaliencyOverlay } from "./SaliencyOverlay";
import classes from "./replays.module.css";
import type { Shape } from "@/ui/useShape";
import type { Playback } from "./usePlayback";

/** Where what the network saw stands: nowhere, beside the picture or over it. */
export type SeenPlace = "off" | "beside" | "over";

interface PanelsProps {
  videos: readonly Replay[];
  playback: Playback;
  shape: Shape;
  /** Emulator pixels are never blurred. */
  pixelated: boolean;
  seen?: SeenPlace;
  /** How much what the network saw covers the picture when it lies over it, from 0 to 1. */
  opacity?: number;
  /** Which saliency lies over the picture. */
  saliency?: SaliencyShown;
  /** The caption's words and what stands under them; the replay's facts unless told otherwise. */
  caption?: (video: Replay, panel: number) => ReactNode;
}

/** Replays side by side; each picture has the shape of its video. */
export function Panels({
  videos,
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
    <div className={classes.panels} data-panels={videos.length} style={style}>
      {videos.map((video, panel) => (
        <figure key={panel} className={classes.panel}>
          <div className={classes.pictures} data-seen={video.seen_file_id === null ? "off" : seen}>
            <Player
              key={video.id}
              playback={playback}
              head={ensemble.heads[panel]}
              className={pixelated ? "pixelated" : undefined}
              src={fileAddress(video.file_id)}
              poster={video.poster_file_id === null ? undefined : fileAddress(video.poster_file_id)}
              label={`Replay at ${exact(video.step, "steps")}`}
              onShape={shape.setShape}
              onClick={() => setPlaying(!playing)}
            />
            {seen !== "off" && video.seen_file_id !== null && (
              <Player
                key={`${video.id} seen`}
                playback={playback}
                className={`pixelated ${classes.seen}`}
                src={fileAddress(video.seen_file_id)}
                label={`What the network saw at ${exact(video.step, "steps")}`}
                onClick={() => setPlaying(!playing)}
              />
            )}
            {ensemble.heads[panel] && (
              <SaliencyOverlay video={video} head={ensemble.heads[panel]} shown={saliency} />
            )}
          </div>
          <figcaption>{caption ? caption(video, panel) : <ReplayFacts video={video} />}</figcaption>
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
function Player({ playback: { ensemble }, head, label, onShape, ...video }: PlayerProps) {
  const element = useRef<HTMLVideoElement>(null);
  const [lost, setLost] = useState(false);
  useEffect(
    () => (element.current ? ensemble.join(element.current, head) : undefined),
    [ensemble, head, lost],
  );
  if (lost) return <Text className={classes.lost}>This video could not be fetched.</Text>;
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
      {...video}
    />
  );
}

export function ReplayFacts({ video }: { video: Replay }) {
  return (
    <Group gap={12} wrap="wrap">
      <Text size="sm" fw={600} title={exact(video.step, "steps")}>
        {short(video.step, "steps")}
      </Text>
      <Text size="sm">return {score(video.episode_return)}</Text>
      <Text size="sm" c="dimmed">
        {plural(video.length, "step")}, {duration(video.seconds)}
      </Text>
    </Group>
  );
}
