import { Button, Tooltip } from "@mantine/core";
import { IconPin, IconPinFilled } from "@tabler/icons-react";
import { usePinVideo } from "@/api/mutations";
import type { Replay } from "./places";

/** Keeps a replay for good, or hands it back to the rule of thinning. */
export function PinReplay({ video }: { video: Replay }) {
  const pin = usePinVideo(video.run_id);
  const { pinned } = video;
  return (
    <Tooltip
      label={
        pinned
          ? "It stays until you unpin it"
          : "Keeps this replay when it would be removed with its checkpoint or for want of room"
      }
    >
      <Button
        size="xs"
        variant="default"
        aria-pressed={pinned}
        leftSection={pinned ? <IconPinFilled size={14} aria-hidden /> : <IconPin size={14} aria-hidden />}
        loading={pin.isPending}
        onClick={() => pin.mutate({ video: video.id, pinned: !pinned })}
      >
        {pinned ? "Pinned" : "Pin"}
      </Button>
    </Tooltip>
  );
}
