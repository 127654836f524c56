import { Button, Tooltip } from "@mantine/core";
import { IconPin, IconPinFilled } from "@tabler/icons-react";
import { usePinReplay } from "@/api/replays";
import type { PlayableReplay } from "./places";

/** Button that pins or unpins a replay. Pruning never deletes a pinned one. */
export function PinReplay({ replay }: { replay: PlayableReplay }) {
  const pin = usePinReplay(replay.run_id);
  const { pinned } = replay;
  if (replay.actions.edit !== null) return null;
  return (
    <Tooltip
      label={
        pinned
          ? "Pruning never deletes this replay"
          : "Keep this replay when its checkpoint is deleted or space runs out"
      }
    >
      <Button
        size="xs"
        variant="default"
        aria-pressed={pinned}
        leftSection={pinned ? <IconPinFilled size={14} aria-hidden /> : <IconPin size={14} aria-hidden />}
        loading={pin.isPending}
        onClick={() => pin.mutate({ replay: replay.id, pinned: !pinned })}
      >
        {pinned ? "Pinned" : "Pin"}
      </Button>
    </Tooltip>
  );
}
