import { Button, Group, Text, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { type RefObject, useEffect, useRef } from "react";
import { fileAddress } from "@/api/client";
import { useEnvironmentFamily } from "@/api/configuration";
import type { Futures, FuturesDocument } from "@/api/types";
import { score } from "@/ui/format";
import { correction, type Playhead } from "../clock";
import type { Playback } from "../usePlayback";
import classes from "./futures.module.css";

type Video = Futures["videos"][number];

/** The replay that the videos follow. */
export interface Original {
  playback: Playback;
  head: Playhead;
  /** Seconds from the start of the replay to the decision. */
  start: number;
  /** Go to the decision. */
  seek: () => void;
}

interface FutureVideosProps {
  videos: readonly Video[];
  document: FuturesDocument;
  original: Original;
}

const TITLES: Record<Video["shows"], string> = {
  best: "Best",
  median: "Median",
  worst: "Worst",
  ghosts: "All blended",
  first: "Future",
};
/** The lowest frame rate of the videos. */
const RATE = 15;

/** Videos of the best, median and worst future and of all blended. They play in sync with the replay. */
export function FutureVideos({ videos, document, original }: FutureVideosProps) {
  const isPixelArt = useEnvironmentFamily(document.env)?.is_pixel_art ?? false;
  const { playback, seek } = original;
  return (
    <section aria-label="Videos of futures">
      <Group justify="space-between" mb={4}>
        <Title order={3} size="sm">
          Videos
        </Title>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlayerPlay size={14} aria-hidden />}
          onClick={() => {
            seek();
            playback.setPlaying(true);
          }}
        >
          Watch in sync
        </Button>
      </Group>
      <div className={classes.videos}>
        {videos.map((video) => (
          <figure key={video.file_id} className={classes.video}>
            <SyncedVideo
              src={fileAddress(video.file_id)}
              label={video.shows === "first" ? titleOf(video) : `${titleOf(video)} future`}
              pixelated={isPixelArt}
              original={original}
            />
            <figcaption>
              <Text size="sm" fw={600}>
                {titleOf(video)}
              </Text>
              <Text size="xs" c="dimmed">
                {describe(video, document)}
              </Text>
            </figcaption>
          </figure>
        ))}
      </div>
    </section>
  );
}

/** Return the title of a video: "Best", or "Future 2" for one of the first. */
const titleOf = ({ shows, future }: Video) =>
  shows === "first" ? `${TITLES.first} ${(future ?? 0) + 1}` : TITLES[shows];

function describe({ future: number }: Video, { futures }: FuturesDocument): string {
  const future = futures[number ?? -1];
  if (!future) return `${futures.length} futures, start only`;
  return `return ${score(future.discounted_return)}, score ${score(future.score)}`;
}

interface SyncedVideoProps {
  src: string;
  label: string;
  pixelated: boolean;
  original: Original;
}

function SyncedVideo({ src, label, pixelated, original }: SyncedVideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  const { head, start } = original;
  const { playing, speed } = original.playback;
  useEffect(() => {
    const player = element.current;
    if (!player) return undefined;
    const follow = () => synchronize(player, head.seconds - start, playing ? Number(speed) : 0);
    const unfollow = head.watch(follow);
    player.addEventListener("loadeddata", follow);
    follow();
    return () => {
      unfollow();
      player.removeEventListener("loadeddata", follow);
    };
  }, [head, start, playing, speed]);
  return <SilentVideo element={element} src={src} label={label} pixelated={pixelated} />;
}

interface SilentVideoProps {
  element: RefObject<HTMLVideoElement | null>;
  src: string;
  label: string;
  pixelated: boolean;
}

/** A video without sound and controls, which something else plays. */
export function SilentVideo({ element, src, label, pixelated }: SilentVideoProps) {
  return (
    <video
      ref={element}
      src={src}
      aria-label={label}
      muted
      playsInline
      preload="auto"
      className={pixelated ? "pixelated" : undefined}
    />
  );
}

/** Bring a video to a time of the replay. Before its start it shows its first picture, and after its end the last. */
export function synchronize(player: HTMLVideoElement, at: number, speed: number): void {
  const isDuring = at >= 0 && at < player.duration;
  if (speed === 0 || !isDuring) {
    if (!player.paused) player.pause();
    player.currentTime = Math.max(0, Math.min(at, player.duration || 0));
    return;
  }
  const correcting = player.playbackRate !== speed;
  const fix = correction(at - player.currentTime, { picture: 1 / RATE, speed, correcting });
  if (fix === "seek") player.currentTime = at;
  else player.playbackRate = speed * fix;
  // A pause can abort the start. A browser that blocks it also blocks the replay, which reports it.
  if (player.paused) player.play().catch(() => undefined);
}
