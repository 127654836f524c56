import { Group, NativeSelect, Switch, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { GameAverage } from "@/api/types";
import classes from "./games.module.css";
import { type Sort, SORTS, type WallView } from "./wall";

interface WallControlsProps {
  view: WallView;
  averages: readonly GameAverage[];
  protocol: string | undefined;
  /** How many games have no run. */
  without: number;
  onChange: (changes: Partial<WallView>) => void;
}

/** Search, order, the protocol whose scores are shown, and the games without runs. */
export function WallControls({ view, averages, protocol, without, onChange }: WallControlsProps) {
  return (
    <Group gap="sm" role="search" aria-label="Filter games" className={classes.controls}>
      <TextInput
        type="search"
        size="xs"
        className={classes.search}
        leftSection={<IconSearch size={14} aria-hidden />}
        placeholder="Search games"
        aria-label="Search games"
        value={view.text}
        maxLength={100}
        onChange={(event) => onChange({ text: event.currentTarget.value })}
      />
      <NativeSelect
        size="xs"
        aria-label="Sort games"
        value={view.sort}
        onChange={(event) => onChange({ sort: event.currentTarget.value as Sort })}
        data={[...SORTS]}
      />
      {averages.length > 1 && (
        <NativeSelect
          size="xs"
          aria-label="Protocol of the scores"
          value={protocol ?? ""}
          onChange={(event) => onChange({ protocol: event.currentTarget.value })}
          data={averages.map((average) => ({
            value: average.protocol,
            label: `${average.title} (${average.games})`,
          }))}
        />
      )}
      <Switch
        size="xs"
        label={`Games without runs (${without})`}
        checked={view.all}
        onChange={(event) => onChange({ all: event.currentTarget.checked })}
      />
    </Group>
  );
}
