import { useCallbackRef, useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { useMemo } from "react";
import type { ListedRun } from "@/api/types";
import { RETURN } from "@/charts/metrics";
import { drawnRuns, toggleCurve, togglePin } from "./curveRuns";
import { runsOnTop, type RunsView } from "./view";

interface SavedCharts {
  /** Null until the charts are opened or closed. */
  isOpen: boolean | null;
  metrics: string[];
  width: number;
}

const UNCHANGED: SavedCharts = { isOpen: null, metrics: [RETURN], width: 440 };
/** On wider screens the charts are open at first. */
const WIDE = "(min-width: 90em)";

/**
 * Return the charts beside the listed runs, and functions that change them. The URL wins over the browser's memory.
 * The shown runs are the listed ones with those that stay on top.
 */
export function useCharts(
  view: RunsView,
  listed: readonly ListedRun[],
  shownRuns: readonly ListedRun[],
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

  const baseline = shownRuns.find(({ id }) => id === view.baseline) ?? null;
  const ids = useMemo(() => listed.map(({ id }) => id), [listed]);
  const drawn = useMemo(
    () =>
      drawnRuns(ids, { pinned: runsOnTop(view), hidden: view.hidden, shown: view.shown }).sort(
        (a, b) => a - b,
      ),
    [ids, view],
  );

  function chooseMetrics(chosen: string[]) {
    save({ ...saved, isOpen: chosen.length > 0, metrics: chosen.length > 0 ? chosen : metrics });
    change({ charts: chosen }, { replace: true });
  }

  const toggle = useCallbackRef((id: number) => {
    const { hidden, shown } = toggleCurve(ids, { ...view, pinned: runsOnTop(view) }, id);
    change({ hidden, shown }, { replace: true });
  });
  const pin = useCallbackRef((id: number) => change(togglePin(view, id), { replace: true }));
  const setBaseline = useCallbackRef((id: number | null) => change({ baseline: id }));
  const { pinned } = view;
  const choice = useMemo(
    () => ({ drawn: isOpen ? drawn : null, pinned, baseline, toggle, togglePin: pin, setBaseline }),
    [isOpen, drawn, pinned, baseline, toggle, pin, setBaseline],
  );
  return {
    isOpen,
    metrics,
    drawn,
    /** The runs whose environments need no request. */
    known: shownRuns,
    env: view.chartEnv,
    chooseEnv: (chartEnv: string) => change({ chartEnv }, { replace: true }),
    choice,
    width: saved.width,
    chooseMetrics,
    setOpen: (open: boolean) => chooseMetrics(open ? saved.metrics : []),
    setWidth: (width: number) => save({ ...saved, width: Math.round(width) }),
  };
}

export type Charts = ReturnType<typeof useCharts>;
