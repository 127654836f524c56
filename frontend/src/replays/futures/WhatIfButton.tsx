import { Button, Tooltip } from "@mantine/core";
import { IconArrowsSplit2 } from "@tabler/icons-react";
import { useCatchFocus } from "@/ui/useCatchFocus";

interface WhatIfButtonProps {
  opened: boolean;
  /** Reason why futures are unavailable. */
  blocked: string | null;
  onToggle: () => void;
}

/** Button that opens the panel for futures. */
export function WhatIfButton({ opened, blocked, onToggle }: WhatIfButtonProps) {
  const button = useCatchFocus<HTMLButtonElement>(!opened);
  return (
    <Tooltip label={blocked ?? "Simulate how the game could continue from here"}>
      <Button
        ref={button}
        size="compact-sm"
        variant={opened ? "light" : "default"}
        leftSection={<IconArrowsSplit2 size={14} aria-hidden />}
        aria-expanded={opened}
        aria-disabled={blocked !== null}
        data-disabled={blocked !== null || undefined}
        onClick={blocked === null ? onToggle : undefined}
      >
        What if…
      </Button>
    </Tooltip>
  );
}
