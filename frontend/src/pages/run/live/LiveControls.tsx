import { Button, Group, Slider, Text } from "@mantine/core";
import { IconDeviceGamepad2, IconPlayerSkipForward } from "@tabler/icons-react";
import { useState } from "react";
import type { Send, View } from "@/stage/broadcast";
import { NewGameButton, PauseButton } from "@/stage/GameButtons";
import type { AgentOnStage } from "@/stage/protocol";
import stageClasses from "@/stage/stage.module.css";
import type { Hands } from "@/stage/useHands";
import classes from "./live.module.css";

interface LiveControlsProps {
  view: View;
  send: Send;
  hands: Hands;
}

/** Controls of a live game. All viewers share the game, so they see the effect. */
export function LiveControls({ view, send, hands }: LiveControlsProps) {
  const { scene } = view;
  const othersPlay = scene !== null && scene.hands !== null && !hands.mine;
  const isDisabled = !view.playing || scene === null || othersPlay;
  return (
    <div className={stageClasses.controls}>
      <Group gap={8}>
        {scene?.takes_hands && (
          <Button
            size="xs"
            disabled={isDisabled}
            leftSection={<IconDeviceGamepad2 size={14} aria-hidden />}
            onClick={() => send({ order: hands.mine ? "hand back" : "take over" })}
          >
            {hands.mine ? "Hand back" : "Take over"}
          </Button>
        )}
        <PauseButton scene={scene} send={send} disabled={isDisabled} />
        <Button
          size="xs"
          variant="default"
          disabled={isDisabled}
          leftSection={<IconPlayerSkipForward size={14} aria-hidden />}
          onClick={() => send({ order: "step" })}
        >
          Step
        </Button>
        <NewGameButton send={send} disabled={isDisabled} />
      </Group>
      {othersPlay && <Text size="sm">Another person is playing.</Text>}
      {scene?.agent && <Temperature agent={scene.agent} isDisabled={isDisabled || hands.mine} send={send} />}
    </div>
  );
}

const SLIDERS: Record<AgentOnStage["sampled"], { name: string; least: string; most: string }> = {
  policy: { name: "Temperature", least: "greedy", most: "sampled" },
  noise: { name: "Policy noise", least: "mean", most: "sampled" },
  random: { name: "Random actions", least: "greedy", most: "random" },
};

function Temperature({ agent, isDisabled, send }: { agent: AgentOnStage; isDisabled: boolean; send: Send }) {
  const { name, least, most } = SLIDERS[agent.sampled];
  const [value, setValue] = useState(agent.temperature);
  const [sharedValue, setSharedValue] = useState(agent.temperature);
  // Another viewer changed the value.
  if (sharedValue !== agent.temperature) {
    setSharedValue(agent.temperature);
    setValue(agent.temperature);
  }
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
          disabled={isDisabled}
          thumbLabel={name}
          onChange={setValue}
          onChangeEnd={(chosen) => send({ order: "temperature", value: chosen })}
        />
        <Text size="xs">{most}</Text>
      </Group>
    </div>
  );
}
