import { Button } from "@mantine/core";
import { IconDeviceFloppy, IconPlayerPause, IconPlayerPlay, IconRefresh } from "@tabler/icons-react";
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

interface NewGameButtonProps extends Pick<GameButtonsProps, "send" | "disabled"> {
  children?: string;
}

export function NewGameButton({ send, disabled, children = "New game" }: NewGameButtonProps) {
  return (
    <Button
      size="xs"
      variant="default"
      disabled={disabled}
      leftSection={<IconRefresh size={14} aria-hidden />}
      onClick={() => send({ order: "new game" })}
    >
      {children}
    </Button>
  );
}

export function KeepButton({ send, disabled }: Pick<GameButtonsProps, "send" | "disabled">) {
  return (
    <Button
      size="xs"
      variant="default"
      disabled={disabled}
      leftSection={<IconDeviceFloppy size={14} aria-hidden />}
      onClick={() => send({ order: "keep" })}
    >
      Keep this game
    </Button>
  );
}
