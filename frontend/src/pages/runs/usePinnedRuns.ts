import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type RunListQuery, runListQuery } from "@/api/runs";
import type { ListedRun, RunPage } from "@/api/types";

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
