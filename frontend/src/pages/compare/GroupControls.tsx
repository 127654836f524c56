import { Group, Select, Switch } from "@mantine/core";
import { type Band, BANDS, type CurveView } from "@/charts/curveView";

const BAND_TITLES: Record<Band, string> = {
  bootstrap: "95 % interval",
  "standard-error": "Standard error",
  range: "All seeds",
};

interface GroupControlsProps {
  view: CurveView;
  onChange: (view: CurveView) => void;
}

/** How runs that differ in the seed alone are drawn: as one in a band, or each by itself. */
export function GroupControls({ view, onChange }: GroupControlsProps) {
  return (
    <Group gap="md" role="group" aria-label="How seeds are shown">
      <Switch
        size="xs"
        label="Group by seed"
        checked={view.grouped}
        onChange={(event) => onChange({ ...view, grouped: event.currentTarget.checked })}
      />
      {view.grouped && (
        <>
          <Select
            aria-label="Band around the mean"
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
