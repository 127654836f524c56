import { Button, VisuallyHidden } from "@mantine/core";
import { IconArrowsSplit2 } from "@tabler/icons-react";

interface VaryButtonProps {
  title: string;
  varied: boolean;
  onClick: () => void;
}

/** Button that switches a field between one value and several values. */
export function VaryButton({ title, varied, onClick }: VaryButtonProps) {
  return (
    <Button
      size="compact-xs"
      variant={varied ? "light" : "default"}
      leftSection={<IconArrowsSplit2 size={14} aria-hidden />}
      aria-pressed={varied}
      onClick={onClick}
    >
      {varied ? "One value" : "Vary"}
      <VisuallyHidden>: {title}</VisuallyHidden>
    </Button>
  );
}
