import { useLocalStorage } from "@mantine/hooks";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import { DEFAULT_COLUMNS } from "./columns";
import { parseView, replaceView, type RunsView } from "./view";

/**
 * Return the view in the URL and functions that change it. A search replaces the history entry. Other changes
 * add one.
 */
export function useRunsView() {
  const [params, setParams] = useSearchParams();
  const [savedColumns, setSavedColumns] = useLocalStorage<string[]>({
    key: "arcadia-run-columns",
    defaultValue: DEFAULT_COLUMNS,
    getInitialValueInEffect: false,
  });
  const view = useMemo(() => parseView(params), [params]);
  const url = params.toString();
  // The router updates the URL later. Until then, show the pending columns and base the next choice on them.
  const [pendingColumns, setPendingColumns] = useState<{ columns: string[]; oldUrl: string } | null>(null);
  // The URL now has the columns.
  if (pendingColumns && pendingColumns.oldUrl !== url) setPendingColumns(null);

  function change(changes: Partial<RunsView>, { replace = false } = {}) {
    // Start from the latest URL, so that two changes in a row do not undo each other.
    setParams((now) => replaceView(now, { ...parseView(now), ...changes }), { replace });
  }

  function chooseColumns(columns: string[]) {
    setSavedColumns(columns);
    setPendingColumns({ columns, oldUrl: url });
    change({ columns }, { replace: true });
  }

  const columns = pendingColumns?.oldUrl === url ? pendingColumns.columns : (view.columns ?? savedColumns);
  return { view, change, columns, chooseColumns };
}
