import { Button } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconRefresh } from "@tabler/icons-react";
import type { Send, View } from "./broadcast";

interface GameButtonsProps {
  scene: View["scene"];
  send: Send;
  disabled: boolean;
}

/** Button that pauses or resumes the game. */
export function PauseButton({ scene, send, disabled }: GameButtonsProps) {
  const paused = scene?.paused ?? false;
  const Icon = paused ? IconPlayerPlay : IconPlayerPause;
  return (
    <Button
      size="xs"
      variant="default"
      disabled={disabled}
      leftSection={<Icon size={14} aria-hidden />}
      onClick={() => send({ order: paused ? "go" : "pause" })}
    >
      {paused ? "Resume game" : "Pause game"}
    </Button>
  );
}

export function NewGameButton({ send, disabled }: Pick<GameButtonsProps, "send" | "disabled">) {
  return (
    <Button
      size="xs"
      variant="default"
      disabled={disabled}
      leftSection={<IconRefresh size={14} aria-hidden />}
      onClick={() => send({ order: "new game" })}
    >
      New game
    </Button>
  );
}
