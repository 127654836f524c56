import { IconArrowsSplit2 } from "@tabler/icons-react";
import { BlockableButton } from "@/ui/BlockableButton";
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
    <BlockableButton
      ref={button}
      blocked={blocked}
      tooltip="Simulate how the game could continue from here"
      size="compact-sm"
      variant={opened ? "light" : "default"}
      leftSection={<IconArrowsSplit2 size={14} aria-hidden />}
      aria-expanded={opened}
      onClick={onToggle}
    >
      What if…
    </BlockableButton>
  );
}
