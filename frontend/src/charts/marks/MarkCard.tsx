import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconGitFork, IconPlayerPlayFilled } from "@tabler/icons-react";
import { Link } from "react-router";
import { fileAddress } from "@/api/client";
import type { Mark } from "@/api/types";
import { short } from "@/ui/format";
import { MarkIcon } from "./markKinds";
import classes from "./marks.module.css";

interface MarkCardProps {
  mark: Mark;
  playing: boolean;
  onPlay: () => void;
  /** Absent if the run cannot be forked. */
  onFork: ((checkpoint: number) => void) | undefined;
}

/** Details of a mark. A checkpoint shows the last frame of its replay, plays it, and can be forked. */
export function MarkCard({ mark, playing, onPlay, onFork }: MarkCardProps) {
  const { checkpoint_id: checkpoint, replay_file_id: video, poster_file_id: poster } = mark;
  const label = `Replay at ${short(mark.step, "steps")}`;
  return (
    <Stack gap={6}>
      <Group gap={6} wrap="nowrap" align="flex-start">
        <span className={classes.icon} data-kind={mark.kind} aria-hidden>
          <MarkIcon mark={mark} />
        </span>
        <Text size="sm" fw={600}>
          {mark.title}
        </Text>
        <Text size="sm" c="dimmed" ml="auto" className={classes.step}>
          {short(mark.step, "steps")}
        </Text>
      </Group>
      {mark.detail && (
        <Text size="sm" className={classes.detail}>
          {mark.detail}
        </Text>
      )}
      {video != null && playing && (
        <video
          className={`pixelated ${classes.picture}`}
          src={fileAddress(video)}
          poster={poster == null ? undefined : fileAddress(poster)}
          aria-label={label}
          autoPlay
          muted
          loop
          controls
        />
      )}
      {poster != null && !playing && (
        <img className={`pixelated ${classes.picture}`} src={fileAddress(poster)} alt={label} />
      )}
      <Group gap="xs">
        {video != null && !playing && (
          <Button size="compact-xs" leftSection={<IconPlayerPlayFilled size={12} />} onClick={onPlay}>
            Play
          </Button>
        )}
        {checkpoint != null && onFork && (
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<IconGitFork size={12} />}
            onClick={() => onFork(checkpoint)}
          >
            Fork here
          </Button>
        )}
        {mark.run_id != null && (
          <Anchor component={Link} to={`/runs/${mark.run_id}`} size="sm">
            Open run {mark.run_id}
          </Anchor>
        )}
      </Group>
    </Stack>
  );
}
