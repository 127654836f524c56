import { useLocalStorage } from "@mantine/hooks";
import { useMemo } from "react";
import { useSearchParams } from "react-router";
import { DEFAULT_COLUMNS } from "./columns";
import { paramsOf, viewOf, type RunsView } from "./view";

/** The view that the address names, and how to change it; typing in the search replaces the address, the rest adds to history. */
export function useRunsView() {
  const [params, setParams] = useSearchParams();
  const [ownColumns, setOwnColumns] = useLocalStorage<string[]>({
    key: "arcadia-run-columns",
    defaultValue: DEFAULT_COLUMNS,
    getInitialValueInEffect: false,
  });
  const view = useMemo(() => viewOf(params), [params]);

  function change(changes: Partial<RunsView>, { replace = false } = {}) {
    // Read from the address itself: two changes in one moment must not undo each other.
    setParams((now) => paramsOf({ ...viewOf(now), ...changes }), { replace });
  }

  function chooseColumns(columns: string[]) {
    setOwnColumns(columns);
    change({ columns }, { replace: true });
  }

  return { view, change, columns: view.columns ?? ownColumns, chooseColumns };
}
