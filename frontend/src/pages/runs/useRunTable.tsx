import { useCallbackRef } from "@mantine/hooks";
import { type ChangeEvent, useMemo, useState } from "react";
import { joinNames, splitNames } from "@/api/nameList";
import type { ListedRun } from "@/api/types";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import { resolveColumns } from "./columns";

/** Return the rows, columns and selection of the runs page. The table and the cards share this model. */
export function useRunTable(runs: ListedRun[], columnIds: readonly string[]) {
  const key = joinNames(columnIds);
  const catalog = useMetricCatalog();
  const titles = useSettingTitles();
  const shown = useMemo(() => resolveColumns(catalog, titles, splitNames(key)), [catalog, titles, key]);
  return { runs, shown, ...useSelection(runs) };
}

export type RunTableModel = ReturnType<typeof useRunTable>;

function useSelection(runs: readonly ListedRun[]) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  // The run that was toggled last, where a range starts.
  const [start, setStart] = useState<number | null>(null);
  // Runs that are no longer listed are not selected, so that actions affect only runs on the page.
  const selected = runs.filter(({ id }) => chosen.has(id));
  const areAllSelected = runs.length > 0 && selected.length === runs.length;

  /** Select or deselect a run. With Shift, do the same with all runs since the one before. */
  const toggle = useCallbackRef((id: number, event?: ChangeEvent<HTMLInputElement>) => {
    const isRange = event?.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey;
    const [to, from] = [id, isRange ? start : id].map((wanted) => runs.findIndex((run) => run.id === wanted));
    if (to === undefined || to < 0) return;
    const first = from === undefined || from < 0 ? to : from;
    const next = new Set(chosen);
    for (const run of runs.slice(Math.min(first, to), Math.max(first, to) + 1))
      if (chosen.has(id)) next.delete(run.id);
      else next.add(run.id);
    setChosen(next);
    setStart(id);
  });
  const select = (wanted: readonly ListedRun[]) => setChosen(new Set(wanted.map(({ id }) => id)));
  return {
    selected,
    areAllSelected,
    isSelected: (id: number) => chosen.has(id),
    toggle,
    toggleAll: () => select(areAllSelected ? [] : runs),
    select,
  };
}
