import { useQuery } from "@tanstack/react-query";
import { selectedRunsQuery } from "@/api/boards";
import { lacksRuns, replaceRuns } from "@/api/figures";
import type { BoardPanel } from "@/api/types";
import { useFigureKind } from "./figureKind";

interface PanelAddress {
  /** Address of the figure with its current runs, or null without runs. */
  address: string | null;
  /** Why there is no figure, as soon as that is known. */
  problem: string | null;
}

/** Return the address of a panel's figure with the runs that its filter selects now. */
export function usePanelAddress(
  project: string,
  { address, filter, max_runs }: Pick<BoardPanel, "address" | "filter" | "max_runs">,
): PanelAddress {
  const kind = useFigureKind(address);
  const selected = useQuery({
    ...selectedRunsQuery(project, filter ?? "", max_runs ?? 1),
    enabled: filter !== null,
  });
  if (filter === null || filter === undefined) {
    return lacksRuns(address)
      ? { address: null, problem: "No runs are chosen. Choose some." }
      : { address, problem: null };
  }
  if (!selected.data) return { address: null, problem: selected.error?.message ?? null };
  if (selected.data.length === 0)
    return {
      address: null,
      problem: filter.trim()
        ? `No run of ${project} matches ${filter}. Change the filter, or launch such a run.`
        : `${project} has no runs yet. Launch one.`,
    };
  const runs = kind?.one_run ? selected.data.slice(0, 1) : selected.data;
  return { address: replaceRuns(address, runs), problem: null };
}
