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

/** What a viewer can do; all who watch see it, since they watch the same game. */
export function LiveControls({ view, send, hands }: LiveControlsProps) {
  const { scene } = view;
  const othersPlay = scene !== null && scene.hands !== null && !hands.mine;
  const off = !view.playing || scene === null || othersPlay;
  return (
    <div className={stageClasses.controls}>
      <Group gap={8}>
        {scene?.takes_hands && (
          <Button
            size="xs"
            disabled={off}
            leftSection={<IconDeviceGamepad2 size={14} aria-hidden />}
            onClick={() => send({ order: hands.mine ? "hand back" : "take over" })}
          >
            {hands.mine ? "Hand back" : "Take over"}
          </Button>
        )}
        <PauseButton scene={scene} send={send} disabled={off} />
        <Button
          size="xs"
          variant="default"
          disabled={off}
          leftSection={<IconPlayerSkipForward size={14} aria-hidden />}
          onClick={() => send({ order: "step" })}
        >
          One decision
        </Button>
        <NewGameButton send={send} disabled={off} />
      </Group>
      {othersPlay && <Text size="sm">Somebody else plays now, and you watch.</Text>}
      {scene?.agent && <Temperature agent={scene.agent} off={off || hands.mine} send={send} />}
    </div>
  );
}

const MEANING: Record<AgentOnStage["sampled"], { name: string; least: string; most: string }> = {
  policy: { name: "Temperature", least: "greedy", most: "sampled" },
  noise: { name: "Share of the policy's spread", least: "its mean", most: "sampled" },
  random: { name: "Share of random actions", least: "greedy", most: "random" },
};

function Temperature({ agent, off, send }: { agent: AgentOnStage; off: boolean; send: Send }) {
  const { name, least, most } = MEANING[agent.sampled];
  const [value, setValue] = useState(agent.temperature);
  const [told, setTold] = useState(agent.temperature);
  // All who watch may set it.
  if (told !== agent.temperature) {
    setTold(agent.temperature);
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
