import { ActionIcon, Group, SegmentedControl, Slider, Text, Tooltip } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { IconPlayerPauseFilled, IconPlayerPlayFilled } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { fileAddress } from "@/api/client";
import { duration, exact, plural, score, short } from "@/ui/format";
import type { Replay } from "./replays";
import classes from "./replays.module.css";

const SPEEDS = ["0.5", "1", "2", "4"];

interface ReplayStageProps {
  videos: readonly Replay[];
  /** Emulator pixels are never blurred. */
  pixelated: boolean;
  /** What stands under the picture of one panel, such as its place on the line of training. */
  under?: (panel: number) => ReactNode;
}

/**
 * Replays side by side on one clock: they start together, the shorter ones hold their last picture, and all begin again
 * when the longest has ended.
 */
export function ReplayStage({ videos, pixelated, under }: ReplayStageProps) {
  const calm = useReducedMotion();
  const [playing, setPlaying] = useState(!calm);
  const [speed, setSpeed] = useState("1");
  const [time, setTime] = useState(0);
  const players = useRef<(HTMLVideoElement | null)[]>([]);
  const longest = Math.max(0.1, ...videos.map((video) => video.seconds));
  const shown = videos.map((video) => video.id).join(",");

  const each = (act: (player: HTMLVideoElement) => void) => {
    for (const player of players.current.slice(0, videos.length)) if (player) act(player);
  };

  function play(player: HTMLVideoElement) {
    player.play().catch((error: unknown) => {
      // Another replay took this one's place while it loaded: nothing to say. A browser that forbids playing is obeyed.
      if (error instanceof DOMException && error.name === "NotAllowedError") setPlaying(false);
    });
  }

  function seek(to: number) {
    setTime(to);
    each((player) => {
      player.currentTime = Math.min(to, player.duration || to);
      if (playing && (Number.isNaN(player.duration) || to < player.duration)) play(player);
    });
  }

  useEffect(() => {
    each((player) => {
      player.playbackRate = Number(speed);
      if (playing && !player.ended) play(player);
      else if (!playing) player.pause();
    });
    // `each` and `play` only read refs.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [playing, speed, shown]);

  /** The clock is the furthest of the players: a shorter replay waits at its end. */
  function moved(to: number) {
    setTime((now) => Math.max(now, to));
  }

  function onEnded() {
    const running = players.current.slice(0, videos.length).some((player) => player && !player.ended);
    if (!running) seek(0);
  }

  return (
    <div>
      <div className={classes.panels} data-panels={videos.length}>
        {videos.map((video, panel) => (
          <figure key={panel} className={classes.panel}>
            <video
              key={video.id}
              ref={(player) => {
                players.current[panel] = player;
              }}
              className={pixelated ? "pixelated" : undefined}
              src={fileAddress(video.file_id)}
              poster={video.poster_file_id === null ? undefined : fileAddress(video.poster_file_id)}
              aria-label={`Replay at ${exact(video.step, "steps")}`}
              muted
              playsInline
              preload="auto"
              onLoadedData={() => seek(0)}
              onTimeUpdate={(event) => moved(event.currentTarget.currentTime)}
              onEnded={onEnded}
              onClick={() => setPlaying(!playing)}
            />
            <figcaption>
              <ReplayCaption video={video} />
              {under?.(panel)}
            </figcaption>
          </figure>
        ))}
      </div>
      <Group gap="sm" mt={8} wrap="nowrap">
        <Tooltip label={playing ? "Pause replay" : "Play replay"}>
          <ActionIcon
            variant="default"
            aria-label={playing ? "Pause replay" : "Play replay"}
            onClick={() => setPlaying(!playing)}
          >
            {playing ? <IconPlayerPauseFilled size={14} /> : <IconPlayerPlayFilled size={14} />}
          </ActionIcon>
        </Tooltip>
        <Slider
          style={{ flex: 1 }}
          size="sm"
          min={0}
          max={longest}
          step={0.1}
          value={Math.min(time, longest)}
          label={null}
          thumbLabel="Place in the replay"
          onChange={seek}
        />
        <SegmentedControl
          size="xs"
          aria-label="Speed"
          data={SPEEDS.map((value) => ({ value, label: `${value}×` }))}
          value={speed}
          onChange={setSpeed}
        />
      </Group>
    </div>
  );
}

function ReplayCaption({ video }: { video: Replay }) {
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
