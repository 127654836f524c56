import { useIsFetching, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { runKeys, runSettingsQuery } from "@/api/runs";
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
import { toFailuresQuery, type RunsView } from "./view";

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
