import { Button, Group, Slider, Text } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconPlayerSkipForward, IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import type { View } from "./broadcast";
import classes from "./live.module.css";
import type { Order, Scene } from "./protocol";

interface LiveControlsProps {
  view: View;
  send: (order: Order) => void;
}

/** What a viewer can do; all who watch see it, since they watch the same game. */
export function LiveControls({ view, send }: LiveControlsProps) {
  const { scene } = view;
  const off = !view.playing || scene === null;
  const paused = scene?.paused ?? false;
  return (
    <div className={classes.controls}>
      <Group gap={8}>
        <Button
          size="xs"
          variant="default"
          disabled={off}
          leftSection={
            paused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />
          }
          onClick={() => send({ order: paused ? "go" : "pause" })}
        >
          {paused ? "Go on" : "Pause"}
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={off}
          leftSection={<IconPlayerSkipForward size={14} aria-hidden />}
          onClick={() => send({ order: "step" })}
        >
          One decision
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={off}
          leftSection={<IconRefresh size={14} aria-hidden />}
          onClick={() => send({ order: "new game" })}
        >
          New game
        </Button>
      </Group>
      {scene && <Temperature key={scene.temperature} scene={scene} off={off} send={send} />}
    </div>
  );
}

const MEANING: Record<Scene["sampled"], { name: string; least: string; most: string }> = {
  policy: { name: "Temperature", least: "greedy", most: "sampled" },
  noise: { name: "Share of the policy's spread", least: "its mean", most: "sampled" },
  random: { name: "Share of random actions", least: "greedy", most: "random" },
};

function Temperature({ scene, off, send }: { scene: Scene; off: boolean; send: (order: Order) => void }) {
  const { name, least, most } = MEANING[scene.sampled];
  const [value, setValue] = useState(scene.temperature);
  return (
    <div className={classes.temperature}>
      <Text size="xs" c="dimmed">
        {name}: {value.toFixed(2)}
      </Text>
      <Group gap={8} wrap="nowrap">
        <Text size="xs">{least}</Text>
        <Slider
          flex={1}
          min={0}
          max={1}
          step={0.05}
          label={null}
          value={value}
          disabled={off}
          thumbLabel={name}
          onChange={setValue}
          onChangeEnd={(chosen) => send({ order: "temperature", value: chosen })}
        />
        <Text size="xs">{most}</Text>
      </Group>
    </div>
  );
}
