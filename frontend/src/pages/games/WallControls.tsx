import { Group, NativeSelect, Switch } from "@mantine/core";
import type { GameAverage } from "@/api/types";
import { SearchField } from "@/ui/SearchField";
import classes from "./games.module.css";
import { type Sort, SORTS, type WallView } from "./wall";

interface WallControlsProps {
  view: WallView;
  averages: readonly GameAverage[];
  protocol: string | undefined;
  /** Number of games without runs. */
  without: number;
  onChange: (changes: Partial<WallView>) => void;
}

/** Controls for search, order, protocol and games without runs. */
export function WallControls({ view, averages, protocol, without, onChange }: WallControlsProps) {
  return (
    <Group gap="sm" role="search" aria-label="Filter games" className={classes.controls}>
      <SearchField
        label="Search games"
        placeholder="Search games"
        className={classes.search}
        maxLength={100}
        text={view.text}
        onSearch={(text) => onChange({ text })}
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
          aria-label="Score protocol"
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
