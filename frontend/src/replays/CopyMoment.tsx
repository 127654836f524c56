import { Button, Tooltip } from "@mantine/core";
import { IconCheck, IconLink } from "@tabler/icons-react";
import { useCopy } from "@/ui/useCopy";

interface CopyMomentProps {
  /** Returns the URL of the moment. */
  address: () => string;
}

export function CopyMoment({ address }: CopyMomentProps) {
  const { copied, copy } = useCopy();
  return (
    <Tooltip label="Opens these replays at this moment, paused">
      <Button
        size="xs"
        variant="default"
        leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconLink size={14} aria-hidden />}
        onClick={() => copy(address())}
      >
        {copied ? "Link copied" : "Copy link to this moment"}
      </Button>
    </Tooltip>
  );
}
