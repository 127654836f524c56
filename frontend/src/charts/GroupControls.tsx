import { Group, MultiSelect, Select, Switch } from "@mantine/core";
import type { GroupField } from "@/api/comparisons";
import { type Band, BANDS, type Center, CENTERS, type CurveView } from "./curveView";

const BAND_TITLES: Record<Band, string> = {
  bootstrap: "95 % interval",
  "standard-error": "Standard error",
  range: "All seeds",
};

const CENTER_TITLES: Record<Center, string> = { mean: "Mean", iqm: "Interquartile mean" };

interface GroupControlsProps {
  /** Settings that differ between the runs. */
  fields: readonly GroupField[];
  view: CurveView;
  onChange: (view: CurveView) => void;
}

/** Controls for grouping runs that differ only in seed or share settings. */
export function GroupControls({ fields, view, onChange }: GroupControlsProps) {
  const chosen = view.by.filter((name) => fields.every(({ value }) => value !== name));
  return (
    <Group gap="md" role="group" aria-label="Seed settings">
      <Switch
        size="xs"
        label="Group by seed"
        title="Group runs that differ only in their seed, or by the chosen settings."
        checked={view.grouped}
        onChange={(event) => onChange({ ...view, grouped: event.currentTarget.checked })}
      />
      <MultiSelect
        aria-label="Settings to group by"
        placeholder={view.by.length === 0 ? "or by settings" : undefined}
        size="xs"
        maw={320}
        data={[...fields, ...chosen.map((value) => ({ value, label: value }))]}
        value={[...view.by]}
        onChange={(by) => onChange({ ...view, by, grouped: view.grouped || by.length > 0 })}
        searchable
        hidePickedOptions
      />
      {view.grouped && (
        <>
          <Select
            aria-label="Line of a group"
            title="The interquartile mean excludes the best and worst quarter. With fewer than four runs, it is the mean."
            size="xs"
            w={160}
            data={CENTERS.map((center) => ({ value: center, label: CENTER_TITLES[center] }))}
            value={view.center}
            allowDeselect={false}
            onChange={(chosen) =>
              onChange({ ...view, center: CENTERS.find((center) => center === chosen) ?? view.center })
            }
          />
          <Select
            aria-label="Band around the line"
            size="xs"
            w={150}
            data={BANDS.map((band) => ({ value: band, label: BAND_TITLES[band] }))}
            value={view.band}
            allowDeselect={false}
            onChange={(chosen) =>
              onChange({ ...view, band: BANDS.find((band) => band === chosen) ?? view.band })
            }
          />
          <Switch
            size="xs"
            label="Show each seed"
            checked={view.seeds}
            onChange={(event) => onChange({ ...view, seeds: event.currentTarget.checked })}
          />
        </>
      )}
    </Group>
  );
}
