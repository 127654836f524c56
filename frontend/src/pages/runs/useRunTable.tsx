import { useCallbackRef } from "@mantine/hooks";
import { type ChangeEvent, useMemo, useState } from "react";
import { joinNames, splitNames } from "@/api/nameList";
import type { ListedRun } from "@/api/types";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import { notifyProblem } from "@/ui/notify";
import { resolveColumns } from "./columns";
import type { RunRows } from "./useRunList";

/** Return the rows, columns and selection of the runs page. The table and the cards share this model. */
export function useRunTable(rows: RunRows, columnIds: readonly string[], filter: string) {
  const key = joinNames(columnIds);
  const catalog = useMetricCatalog();
  const titles = useSettingTitles();
  const shown = useMemo(() => resolveColumns(catalog, titles, splitNames(key)), [catalog, titles, key]);
  return { rows, shown, ...useSelection(rows, filter) };
}

export type RunTableModel = ReturnType<typeof useRunTable>;

interface Selection {
  /** The filter that the runs matched. Another filter selects nothing. */
  filter: string;
  /** True if all matches are selected, except the chosen ones. */
  all: boolean;
  chosen: ReadonlyMap<number, ListedRun>;
  /** The run that was toggled last, where a range starts. */
  start: number | null;
}

/** Longest range of rows that is selected at once. */
const MAX_RANGE = 2000;

function useSelection(rows: RunRows, filter: string) {
  const nothing: Selection = { filter, all: false, chosen: new Map(), start: null };
  const [stored, setStored] = useState(nothing);
  const selection = stored.filter === filter ? stored : nothing;
  const { all, chosen } = selection;
  const isComplete = rows.loaded.length >= rows.count;
  // With the state of now. If every run is loaded, the others are no longer listed, so actions do not affect them.
  const current = [...chosen.values()].flatMap((run) => {
    const row = rows.rowOf(run.id);
    return row < 0 ? (isComplete ? [] : run) : (rows.runAt(row) ?? run);
  });
  const count = all ? Math.max(0, rows.count - current.length) : current.length;

  function choose(runs: readonly ListedRun[], isChosen: boolean, start: number) {
    const next = new Map(current.map((run) => [run.id, run]));
    for (const run of runs)
      if (isChosen) next.set(run.id, run);
      else next.delete(run.id);
    setStored({ ...selection, chosen: next, start });
  }

  /** Select or deselect a run. With Shift, do the same with all runs since the one before. */
  const toggle = useCallbackRef((id: number, event?: ChangeEvent<HTMLInputElement>) => {
    const isRange = event?.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey;
    const to = rows.rowOf(id);
    const run = rows.runAt(to);
    if (!run) return;
    const { start } = selection;
    const from = isRange && start !== null ? rows.rowOf(start) : -1;
    const isChosen = !chosen.has(id);
    if (!isRange || start === null || (from < 0 && !chosen.has(start))) return choose([run], isChosen, id);
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    if (from < 0 || last - first > MAX_RANGE)
      return notifyProblem(new Error(`A range has at most ${MAX_RANGE} rows. Select all, or use a filter.`));
    rows
      .load(first, last + 1)
      .then((found) => choose(found, isChosen, id))
      .catch(notifyProblem);
  });
  const selectAll = () =>
    setStored({
      filter,
      all: !isComplete,
      chosen: new Map(isComplete ? rows.loaded.map((run) => [run.id, run]) : []),
      start: null,
    });
  return {
    /** The selected runs, or none if all matches are selected. */
    selected: all ? [] : current,
    /** The runs that are left out if all matches are selected, or null. */
    excluded: all ? current : null,
    count,
    areAllSelected: rows.count > 0 && count === rows.count,
    isSelected: (id: number) => chosen.has(id) !== all,
    toggle,
    selectAll,
    toggleAll: () => (count === rows.count ? setStored(nothing) : selectAll()),
    clear: () => setStored(nothing),
  };
}
