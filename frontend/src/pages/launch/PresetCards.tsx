import { Radio, Stack, Text } from "@mantine/core";
import type { Preset } from "@/api/types";
import classes from "./launch.module.css";

interface PresetCardsProps {
  presets: readonly Preset[];
  chosen: string | null;
  onChoose: (name: string) => void;
}

/** Ready-made configurations: what each shows and where its numbers come from. */
export function PresetCards({ presets, chosen, onChoose }: PresetCardsProps) {
  return (
    <Radio.Group value={chosen} onChange={onChoose} label="Start from" aria-label="Preset to start from">
      <div className={classes.presets} style={{ marginTop: 8 }}>
        {presets.map((preset) => (
          <Radio.Card key={preset.name} value={preset.name} className={classes.preset}>
            <Stack gap={4}>
              <Text fw={600} size="sm">
                {preset.title}
              </Text>
              <Text size="sm">{preset.shows}</Text>
              <Text size="xs" c="dimmed">
                {preset.source}
              </Text>
            </Stack>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  );
}
