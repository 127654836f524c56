import { useLocalStorage } from "@mantine/hooks";
import { useInfiniteQuery, useIsFetching, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import { runKeys, type RunListQuery, runListQuery, runSettingsQuery } from "@/api/runs";
import type { ListedRun, RunPage } from "@/api/types";
import { useVariants } from "@/config-form/useVariants";
import {
  automaticColumns,
  automaticSettings,
  DIFFERING,
  withAutomatic,
  withoutAutomatic,
} from "./automaticColumns";
import { DEFAULT_COLUMNS } from "./columns";
import { hasColumn } from "./columnSpecs";
import { parseView, replaceView, type RunsView, toFailuresQuery } from "./view";

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

/** Return the pinned runs, also those that the filters do not select. */
export function usePinnedRuns(
  pages: ReadonlyMap<number, RunPage>,
  pinned: readonly number[],
  { archived, metric, include, compute }: RunListQuery,
): ListedRun[] {
  const { data } = useInfiniteQuery({
    ...runListQuery({ id: [...pinned], archived, metric, include, compute }),
    enabled: pinned.length > 0,
  });
  return useMemo(() => {
    if (pinned.length === 0) return NONE;
    const listed = [...(data?.pages ?? []), ...pages.values()].flatMap((page) => page.items);
    const byId = new Map(listed.map((run) => [run.id, run]));
    return pinned.flatMap((id) => byId.get(id) ?? []);
  }, [data, pages, pinned]);
}

const NONE: ListedRun[] = [];

/** Return all columns of the table: the chosen ones and the settings that differ between the listed runs. */
export function useColumns(
  view: RunsView,
  project: string | null,
  chosen: readonly string[],
  choose: (columns: string[]) => void,
) {
  const { variants } = useVariants();
  // The rows come first.
  const enabled = useIsFetching({ queryKey: runKeys.lists }) === 0 && hasColumn(chosen, DIFFERING);
  const { data } = useQuery({ ...runSettingsQuery(toFailuresQuery(view, project)), enabled });
  const automatic = useMemo(() => {
    const groups = new Map(
      variants.flatMap(({ fields }) => fields.map(({ name, group }) => [name, group] as const)),
    );
    // Without the groups, the wrong columns would be shown for a moment.
    if (groups.size === 0) return [];
    return automaticColumns(
      chosen,
      automaticSettings(data?.settings ?? [], (field) => groups.get(field)),
    );
  }, [chosen, data, variants]);
  const columns = useMemo(() => withAutomatic(chosen, automatic), [chosen, automatic]);
  return {
    columns,
    choose: (edited: string[]) => choose(withoutAutomatic(edited, automatic)),
    reset: () => choose(DEFAULT_COLUMNS),
  };
}
