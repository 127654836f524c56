import { Button, Checkbox, Group, Popover, Progress, Stack, Text } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { fileAddress } from "@/api/client";
import type { PlayableReplay } from "../places";
import { clipOf, leavesOut, type Marks, shotsOf, whyNoClip } from "./clip";

interface ClipButtonProps {
  replay: PlayableReplay;
  rate: number;
  /** Returns the current time. */
  now: () => number;
}

/** Button that downloads a GIF of the part between two marks. */
export function ClipButton({ replay, rate, now }: ClipButtonProps) {
  const [marks, setMarks] = useState<Partial<Marks>>({});
  const { from = 0, to = replay.seconds } = marks;
  const set = (mark: keyof Marks) => setMarks({ ...marks, [mark]: Math.min(now(), replay.seconds) });
  const making = useMaking(replay, rate);
  return (
    <Popover position="top" withArrow shadow="md" trapFocus>
      <Popover.Target>
        <Button size="xs" variant="default" leftSection={<IconScissors size={14} aria-hidden />}>
          Clip
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw={320}>
        <Stack gap="xs">
          <Text size="sm">
            A GIF for slides, from {from.toFixed(1)} s to {to.toFixed(1)} s.
          </Text>
          <Group gap="xs">
            <Button size="xs" variant="default" onClick={() => set("from")}>
              Start here
            </Button>
            <Button size="xs" variant="default" onClick={() => set("to")}>
              End here
            </Button>
          </Group>
          <Making rate={rate} marks={{ from, to }} making={making} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

interface Making {
  /** Progress of the clip from 0 to 1, or null. */
  part: number | null;
  problem: string | null;
  make: (marks: Marks, all: boolean) => Promise<void>;
  stop: () => void;
}

/** State of a clip. It continues while the popover is closed and ends with the page. */
function useMaking(replay: PlayableReplay, rate: number): Making {
  const [part, setPart] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const stopping = useRef<AbortController | null>(null);
  const stop = () => stopping.current?.abort();
  useEffect(() => stop, []);

  async function make(marks: Marks, all: boolean) {
    const { signal } = (stopping.current = new AbortController());
    setProblem(null);
    setPart(0);
    try {
      const shots = shotsOf(marks, rate, all);
      const clip = await clipOf(fileAddress(replay.file_id), { rate, shots, signal, onProgress: setPart });
      if (!signal.aborted) save(clip, nameOf(replay, marks));
    } catch (error) {
      if (!signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    }
    setPart(null);
  }

  return { part, problem, make, stop };
}

interface MakingProps {
  rate: number;
  marks: Marks;
  making: Making;
}

function Making({ rate, marks, making: { part, problem, make, stop } }: MakingProps) {
  const [all, setAll] = useState(false);
  const why = whyNoClip(marks);
  return (
    <>
      {leavesOut(rate) && (
        <Checkbox
          size="xs"
          label="All frames, 17 % slower"
          description="GIFs play at most 50 frames per second. By default, every second frame is used."
          checked={all}
          disabled={part !== null}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
      )}
      {(why ?? problem) && (
        <Text size="sm" role="status">
          {why ?? problem}
        </Text>
      )}
      {part === null ? (
        <Button size="xs" disabled={why !== null} onClick={() => void make(marks, all)}>
          Download GIF
        </Button>
      ) : (
        <Group gap="xs" wrap="nowrap">
          <Progress flex={1} value={100 * part} aria-label="Clip progress" />
          <Button size="compact-xs" variant="default" onClick={stop}>
            Stop
          </Button>
        </Group>
      )}
    </>
  );
}

const nameOf = ({ run_id, step }: PlayableReplay, { from, to }: Marks) =>
  `run-${run_id}-step-${step}-${from.toFixed(1)}-to-${to.toFixed(1)}s.gif`;

function save(clip: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(clip);
  link.download = name;
  link.click();
  // Wait until the browser has started to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
