import { Anchor, Button, Group, Popover, ScrollArea, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconGitFork, IconPlayerPlayFilled } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { fileAddress } from "@/api/client";
import type { Mark } from "@/api/types";
import { plural, short } from "@/ui/format";
import type { XAxis } from "../curveView";
import type { PlotArea } from "../plotly";
import { MarkIcon, mostImportant } from "./markKinds";
import { type Cluster, clusters } from "./markPlaces";
import classes from "./marks.module.css";

interface MarkStripProps {
  label: string;
  marks: readonly Mark[];
  axis: XAxis;
  area: PlotArea;
  /** Absent if the runs cannot be forked here. */
  onFork?: (checkpoint: number) => void;
}

/** Marks along the top of a chart. */
export function MarkStrip({ label, marks, axis, area, onFork }: MarkStripProps) {
  const places = clusters(marks, axis, area);
  if (places.length === 0) return null;
  return (
    <div className={classes.strip} role="group" aria-label={label}>
      {places.map((cluster) => (
        <MarkButton key={cluster.marks.map(keyOf).join()} cluster={cluster} onFork={onFork} />
      ))}
    </div>
  );
}

const keyOf = (mark: Mark) => `${mark.kind} ${mark.step} ${mark.title} ${mark.detail}`;

/** Time to move the pointer from the mark to its card. */
const CLOSE_MS = 150;

interface MarkButtonProps {
  cluster: Cluster;
  onFork: ((checkpoint: number) => void) | undefined;
}

/** The marks at one place of a curve. Hovering shows what happened; a click plays the replay. */
function MarkButton({ cluster: { left, marks }, onFork }: MarkButtonProps) {
  const [open, setOpen] = useState(false);
  const [played, setPlayed] = useState<Mark | null>(null);
  const closing = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(closing.current), []);
  const stay = () => {
    clearTimeout(closing.current);
    setOpen(true);
  };
  const leave = () => {
    // A playing replay stays until a click elsewhere.
    if (played === null) closing.current = setTimeout(() => setOpen(false), CLOSE_MS);
  };
  const shown = mostImportant(marks);
  if (!shown) return null;
  const playable = shown.replay_file_id == null ? marks.find((mark) => mark.replay_file_id != null) : shown;
  const close = (opened: boolean) => {
    setOpen(opened);
    if (!opened) setPlayed(null);
  };
  return (
    <Popover opened={open} onChange={close} position="bottom" withArrow shadow="md" width={260}>
      <Popover.Target>
        <UnstyledButton
          className={classes.mark}
          data-kind={shown.kind}
          data-best={shown.best || undefined}
          style={{ left }}
          aria-label={labelOf(marks, shown)}
          onMouseEnter={stay}
          onMouseLeave={leave}
          onClick={() => {
            stay();
            if (playable) setPlayed(playable);
          }}
        >
          <MarkIcon mark={shown} />
          {marks.length > 1 && <span className={classes.count}>{marks.length}</span>}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p="xs" onMouseEnter={stay} onMouseLeave={leave}>
        <ScrollArea.Autosize mah={360} type="auto">
          <Stack gap="sm">
            {marks.map((mark, at) => (
              <MarkCard
                key={at}
                mark={mark}
                playing={mark === played}
                onPlay={() => setPlayed(mark)}
                onFork={onFork}
              />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}

function labelOf(marks: readonly Mark[], shown: Mark): string {
  const first = `${shown.title} at ${short(shown.step, "steps")}`;
  return marks.length === 1 ? first : `${plural(marks.length, "mark")}: ${first}`;
}

interface MarkCardProps {
  mark: Mark;
  playing: boolean;
  onPlay: () => void;
  /** Absent if the run cannot be forked. */
  onFork: ((checkpoint: number) => void) | undefined;
}

/** Details of a mark. A checkpoint shows the last frame of its replay, plays it, and can be forked. */
function MarkCard({ mark, playing, onPlay, onFork }: MarkCardProps) {
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
