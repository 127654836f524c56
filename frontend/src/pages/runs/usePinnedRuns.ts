import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type RunListQuery, runListQuery } from "@/api/runs";
import type { ListedRun } from "@/api/types";

/** Return the runs of the list with the pinned ones on top, also those that the filters do not select. */
export function usePinnedRuns(
  listed: readonly ListedRun[],
  pinned: readonly number[],
  { archived, metric, include, compute }: RunListQuery,
): ListedRun[] {
  const { data } = useInfiniteQuery({
    ...runListQuery({ id: [...pinned], archived, metric, include, compute }),
    enabled: pinned.length > 0,
  });
  return useMemo(() => {
    const byId = new Map(
      [...(data?.pages ?? []).flatMap((page) => page.items), ...listed].map((run) => [run.id, run]),
    );
    const onTop = pinned.flatMap((id) => byId.get(id) ?? []);
    return [...onTop, ...listed.filter(({ id }) => !pinned.includes(id))];
  }, [data, listed, pinned]);
}
