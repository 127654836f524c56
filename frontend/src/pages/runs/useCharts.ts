import { useCallbackRef, useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { useMemo } from "react";
import type { ListedRun } from "@/api/types";
import { RETURN } from "@/charts/metrics";
import { drawnRuns, toggleCurve, togglePin } from "./curveRuns";
import type { RunsView } from "./view";

interface SavedCharts {
  /** Null until the charts are opened or closed. */
  isOpen: boolean | null;
  metrics: string[];
  width: number;
}

const UNCHANGED: SavedCharts = { isOpen: null, metrics: [RETURN], width: 440 };
/** On wider screens the charts are open at first. */
const WIDE = "(min-width: 90em)";

/** Return the charts beside the listed runs, and functions that change them. The URL wins over the browser's memory. */
export function useCharts(
  view: RunsView,
  listed: readonly ListedRun[],
  change: (changes: Partial<RunsView>, options?: { replace?: boolean }) => void,
) {
  const [saved, save] = useLocalStorage<SavedCharts>({
    key: "arcadia-run-charts",
    defaultValue: UNCHANGED,
    getInitialValueInEffect: false,
  });
  const isWide = useMediaQuery(WIDE, window.matchMedia(WIDE).matches);
  const metrics = view.charts ?? ((saved.isOpen ?? isWide) ? saved.metrics : []);
  const isOpen = metrics.length > 0;

  const { pinned, hidden, shown } = view;
  const ids = useMemo(() => listed.map(({ id }) => id), [listed]);
  const drawn = useMemo(
    () => drawnRuns(ids, { pinned, hidden, shown }).sort((a, b) => a - b),
    [ids, pinned, hidden, shown],
  );

  function chooseMetrics(chosen: string[]) {
    save({ ...saved, isOpen: chosen.length > 0, metrics: chosen.length > 0 ? chosen : metrics });
    change({ charts: chosen }, { replace: true });
  }

  const toggle = useCallbackRef((id: number) => change(toggleCurve(ids, view, id), { replace: true }));
  const pin = useCallbackRef((id: number) => change(togglePin(view, id), { replace: true }));
  const choice = useMemo(
    () => ({ drawn: isOpen ? drawn : null, pinned, toggle, togglePin: pin }),
    [isOpen, drawn, pinned, toggle, pin],
  );
  return {
    isOpen,
    metrics,
    drawn,
    choice,
    width: saved.width,
    chooseMetrics,
    setOpen: (open: boolean) => chooseMetrics(open ? saved.metrics : []),
    setWidth: (width: number) => save({ ...saved, width: Math.round(width) }),
  };
}

export type Charts = ReturnType<typeof useCharts>;
