import { Button, Checkbox, Group, Popover, Progress, Stack, Text } from "@mantine/core";
import { IconScissors } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { fileAddress } from "@/api/client";
import type { Replay } from "../places";
import { clipOf, leavesOut, type Marks, shotsOf, whyNoClip } from "./clip";

interface ClipButtonProps {
  video: Replay;
  rate: number;
  /** The moment that is shown now. */
  now: () => number;
}

/** Downloads what lies between two marks of a replay as a GIF, for slides. */
export function ClipButton({ video, rate, now }: ClipButtonProps) {
  const [marks, setMarks] = useState<Partial<Marks>>({});
  const { from = 0, to = video.seconds } = marks;
  const set = (mark: keyof Marks) => setMarks({ ...marks, [mark]: Math.min(now(), video.seconds) });
  return (
    <Popover position="top" withArrow shadow="md">
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
          <Making video={video} rate={rate} marks={{ from, to }} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Making({ video, rate, marks }: { video: Replay; rate: number; marks: Marks }) {
  const [all, setAll] = useState(false);
  const [part, setPart] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const stopping = useRef<AbortController | null>(null);
  const why = whyNoClip(marks);

  async function make() {
    const stop = (stopping.current = new AbortController());
    setProblem(null);
    setPart(0);
    try {
      const shots = shotsOf(marks, rate, all);
      const options = { rate, shots, signal: stop.signal, onProgress: setPart };
      save(await clipOf(fileAddress(video.file_id), options), nameOf(video, marks));
    } catch (error) {
      if (!stop.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    }
    setPart(null);
  }

  return (
    <>
      {leavesOut(rate) && (
        <Checkbox
          size="xs"
          label="Every picture, a sixth slower"
          description="A GIF shows at most 50 pictures a second; otherwise it has every second one."
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
        <Button size="xs" disabled={why !== null} onClick={() => void make()}>
          Download GIF
        </Button>
      ) : (
        <Group gap="xs" wrap="nowrap">
          <Progress flex={1} value={100 * part} aria-label="Making the clip" />
          <Button size="compact-xs" variant="default" onClick={() => stopping.current?.abort()}>
            Stop
          </Button>
        </Group>
      )}
    </>
  );
}

const nameOf = ({ run_id, step }: Replay, { from, to }: Marks) =>
  `run-${run_id}-step-${step}-${from.toFixed(1)}-to-${to.toFixed(1)}s.gif`;

function save(clip: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(clip);
  link.download = name;
  link.click();
  // Only once the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
