import { Popover, ScrollArea, Stack, UnstyledButton } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Mark } from "@/api/types";
import { plural, short } from "@/ui/format";
import { MarkCard } from "./MarkCard";
import { MarkIcon, mostImportant } from "./markKinds";
import type { Cluster } from "./markPlaces";
import classes from "./marks.module.css";

/** Time to move the pointer from the mark to its card. */
const CLOSE_MS = 150;

interface MarkButtonProps {
  cluster: Cluster;
  onFork: ((checkpoint: number) => void) | undefined;
}

/** The marks at one place of a curve. Hovering shows what happened; a click plays the replay. */
export function MarkButton({ cluster: { left, marks }, onFork }: MarkButtonProps) {
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
