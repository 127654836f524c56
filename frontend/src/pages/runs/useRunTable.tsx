import { rowSelectionFeature, tableFeatures, useTable, type RowSelectionState } from "@tanstack/react-table";
import { useMemo, useState } from "react";
import { joinNames, splitNames } from "@/api/nameList";
import type { ListedRun } from "@/api/types";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { useSettingTitles } from "@/config-form/useSettingTitles";
import { resolveColumns } from "./columns";

const features = tableFeatures({ rowSelectionFeature });
/** Cells are rendered from `shown`. The library would mount all of them again whenever a column changes. */
const NO_COLUMNS: [] = [];

/** Return the rows, columns and selection of the runs page. The table and the cards share this model. */
export function useRunTable(runs: ListedRun[], columnIds: readonly string[]) {
  const [rowSelection, setRowSelection] = useState<RowSelectionState>({});
  const key = joinNames(columnIds);
  const catalog = useMetricCatalog();
  const titles = useSettingTitles();
  const shown = useMemo(() => resolveColumns(catalog, titles, splitNames(key)), [catalog, titles, key]);
  const table = useTable({
    features,
    columns: NO_COLUMNS,
    data: runs,
    getRowId: (run: ListedRun) => String(run.id),
    enableRowRangeSelection: true,
    state: { rowSelection },
    onRowSelectionChange: setRowSelection,
  });
  // Deselect runs that are no longer listed, so that actions affect only runs on the page.
  const selected = runs.filter((run) => rowSelection[run.id]);
  const select = (wanted: readonly ListedRun[]) =>
    setRowSelection(Object.fromEntries(wanted.map(({ id }) => [id, true as const])));
  return { table, runs, shown, selected, select };
}

export type RunTableModel = ReturnType<typeof useRunTable>;
