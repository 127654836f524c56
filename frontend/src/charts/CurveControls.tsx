import { Group, SegmentedControl, Slider, Switch, Text } from "@mantine/core";
import { useState } from "react";
import classes from "./charts.module.css";
import { type CurveView, X_AXES, X_TITLES, type XAxis } from "./curveView";

interface CurveControlsProps {
  view: CurveView;
  onChange: (view: CurveView) => void;
  axes?: readonly XAxis[];
  /** True if one of the runs is a fork. */
  forks?: boolean;
}

/** View controls for all curves of a page. */
export function CurveControls({ view, onChange, axes = X_AXES, forks = false }: CurveControlsProps) {
  return (
    <Group gap="md" role="group" aria-label="Curve settings">
      <Group gap={8} wrap="nowrap">
        <Text size="sm" c="dimmed">
          X axis
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Horizontal axis"
          // A link may name another axis.
          data={X_AXES.filter((axis) => axes.includes(axis) || axis === view.x).map((axis) => ({
            value: axis,
            label: X_TITLES[axis],
          }))}
          value={view.x}
          onChange={(x) => onChange({ ...view, x: X_AXES.find((axis) => axis === x) ?? "step" })}
        />
      </Group>
      <Smoothing value={view.smoothing} onChange={(smoothing) => onChange({ ...view, smoothing })} />
      <Switch
        size="xs"
        label="log x"
        checked={view.xLog}
        onChange={(event) => onChange({ ...view, xLog: event.currentTarget.checked })}
      />
      <Switch
        size="xs"
        label="log y"
        checked={view.yLog}
        onChange={(event) => onChange({ ...view, yLog: event.currentTarget.checked })}
      />
      <Switch
        size="xs"
        label="Ignore outliers"
        checked={view.clip}
        onChange={(event) => onChange({ ...view, clip: event.currentTarget.checked })}
      />
      {forks && (
        <Switch
          size="xs"
          label="Show parent runs"
          // Each run's time starts at 0.
          disabled={view.x === "time"}
          checked={view.ancestry && view.x !== "time"}
          onChange={(event) => onChange({ ...view, ancestry: event.currentTarget.checked })}
        />
      )}
    </Group>
  );
}

/** Slider that fetches new curves when released. */
function Smoothing({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  const [dragged, setDragged] = useState<number | null>(null);
  const shown = dragged ?? value;
  return (
    <Group gap={8} wrap="nowrap">
      <Text size="sm" c="dimmed" id="smoothing-label">
        Smoothing
      </Text>
      <Slider
        className={classes.smoothing}
        size="sm"
        min={0}
        max={0.99}
        step={0.01}
        label={null}
        thumbProps={{ "aria-labelledby": "smoothing-label" }}
        value={shown}
        onChange={setDragged}
        onChangeEnd={(smoothing) => {
          setDragged(null);
          onChange(smoothing);
        }}
      />
      <Text size="sm" ff="monospace" w={36} aria-hidden>
        {shown.toFixed(2)}
      </Text>
    </Group>
  );
}
