import { Group, Select, Switch } from "@mantine/core";
import { type Band, BANDS, type Center, CENTERS, type CurveView } from "@/charts/curveView";

const BAND_TITLES: Record<Band, string> = {
  bootstrap: "95 % interval",
  "standard-error": "Standard error",
  range: "All seeds",
};

const CENTER_TITLES: Record<Center, string> = { mean: "Mean", iqm: "Interquartile mean" };

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
            aria-label="Line of a group"
            title="The interquartile mean leaves out the best and the worst quarter; below four runs it is the mean."
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
