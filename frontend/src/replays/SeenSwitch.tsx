import { Group, SegmentedControl, Slider, Text, Tooltip } from "@mantine/core";
import type { SeenPlace } from "./Panels";
import classes from "./replays.module.css";

interface SeenSwitchProps {
  place: SeenPlace;
  setPlace: (place: SeenPlace) => void;
  opacity: number;
  setOpacity: (opacity: number) => void;
  /** Reason why the network's input is unavailable. */
  blocked: string | null;
}

const PLACES: { value: SeenPlace; label: string }[] = [
  { value: "off", label: "Off" },
  { value: "beside", label: "Beside" },
  { value: "over", label: "Overlay" },
];

/** Switch for the network's input next to the picture or over it. */
export function SeenSwitch({ place, setPlace, opacity, setOpacity, blocked }: SeenSwitchProps) {
  return (
    <Group gap={8}>
      <Text size="xs" c="dimmed" id="seen">
        Network input
      </Text>
      <Tooltip label={blocked} disabled={blocked === null}>
        <div
          tabIndex={blocked === null ? undefined : 0}
          role={blocked === null ? undefined : "note"}
          aria-label={blocked ?? undefined}
        >
          <SegmentedControl
            size="xs"
            aria-labelledby="seen"
            data={PLACES}
            value={blocked === null ? place : "off"}
            disabled={blocked !== null}
            onChange={setPlace}
          />
        </div>
      </Tooltip>
      {place === "over" && blocked === null && (
        <Slider
          className={classes.opacity}
          size="sm"
          min={0}
          max={100}
          value={Math.round(opacity * 100)}
          label={(percent) => `${percent} %`}
          thumbLabel="Opacity"
          onChange={(percent) => setOpacity(percent / 100)}
        />
      )}
    </Group>
  );
}
