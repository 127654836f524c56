import { ActionIcon, Group, SegmentedControl, Slider, Text, Tooltip } from "@mantine/core";
import { IconPlayerPauseFilled, IconPlayerPlayFilled } from "@tabler/icons-react";
import type { PlayableReplay } from "./places";
import classes from "./replays.module.css";
import { type Playback, SPEEDS, useStageTime } from "./usePlayback";

interface TransportProps {
  /** The videos with their lengths. */
  replays: readonly Pick<PlayableReplay, "seconds">[];
  playback: Playback;
  /** What the videos are called. */
  noun?: string;
  /** The shortcut to play and pause, if any. */
  playKey?: string;
}

/** Playback controls: play, position in the longest video, and speed. */
export function Transport({ replays, playback, noun = "replay", playKey }: TransportProps) {
  const { ensemble, playing, setPlaying, speed, setSpeed } = playback;
  const longest = Math.max(0.1, ...replays.map((replay) => replay.seconds));
  const time = Math.min(useStageTime(ensemble), longest);
  const does = `${playing ? "Pause" : "Play"} ${noun}`;
  return (
    <Group gap="sm" className={classes.transport}>
      <Tooltip label={playKey ? `${does} (${playKey})` : does}>
        <ActionIcon variant="default" aria-label={does} onClick={() => setPlaying(!playing)}>
          {playing ? <IconPlayerPauseFilled size={14} /> : <IconPlayerPlayFilled size={14} />}
        </ActionIcon>
      </Tooltip>
      <Slider
        className={classes.place}
        size="sm"
        min={0}
        max={longest}
        step={0.1}
        value={time}
        label={null}
        thumbLabel={`Position in the ${noun}`}
        onChange={(to) => ensemble.seek(to)}
      />
      <Text size="xs" c="dimmed" className={classes.time}>
        {time.toFixed(1)} of {longest.toFixed(1)} s
      </Text>
      <SegmentedControl
        size="xs"
        aria-label="Speed"
        data={SPEEDS.map((value) => ({ value, label: `${value}×` }))}
        value={speed}
        onChange={setSpeed}
      />
    </Group>
  );
}
