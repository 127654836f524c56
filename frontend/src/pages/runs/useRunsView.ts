import { useLocalStorage } from "@mantine/hooks";
import { useMemo, useState } from "react";
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
  const address = params.toString();
  // The router changes the address a moment later; until then what was chosen is shown, and the next choice builds on it.
  const [chosen, setChosen] = useState<{ columns: string[]; leaving: string } | null>(null);
  // It says for itself what it shows when it is opened again.
  if (chosen && chosen.leaving !== address) setChosen(null);

  function change(changes: Partial<RunsView>, { replace = false } = {}) {
    // Read from the address itself: two changes in one moment must not undo each other.
    setParams((now) => paramsOf({ ...viewOf(now), ...changes }), { replace });
  }

  function chooseColumns(columns: string[]) {
    setOwnColumns(columns);
    setChosen({ columns, leaving: address });
    change({ columns }, { replace: true });
  }

  const columns = chosen?.leaving === address ? chosen.columns : (view.columns ?? ownColumns);
  return { view, change, columns, chooseColumns };
}
