import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { Run, RunPage } from "../types";

type Pages = InfiniteData<RunPage, string | null>;

/** Put a newer copy of a run wherever it is shown; the order of lists stays until they are fetched again. */
export function patchRun(client: QueryClient, run: Run): { listed: boolean } {
  client.setQueryData(["run", run.id, "detail"], run);
  return patchLists(client, run);
}

/** Put a newer copy of a run into the lists alone: a copy from a list lacks what only the run's page shows. */
export function patchLists(client: QueryClient, run: Run): { listed: boolean } {
  let listed = false;
  client.setQueriesData<Pages>({ queryKey: ["runs"] }, (pages) => {
    if (!pages?.pages.some((page) => page.items.some((item) => item.id === run.id))) return pages;
    listed = true;
    return { ...pages, pages: pages.pages.map((page) => withRun(page, run)) };
  });
  return { listed };
}

function withRun(page: RunPage, run: Run): RunPage {
  if (!page.items.some((item) => item.id === run.id)) return page;
  return {
    ...page,
    items: page.items.map((item) => (item.id === run.id ? { ...run, metrics: item.metrics } : item)),
  };
}

/** The state of a run as the lists show it now; undefined when no list shows it. */
export function shownState(client: QueryClient, runId: number): string | undefined {
  for (const [, pages] of client.getQueriesData<Pages>({ queryKey: ["runs"] })) {
    for (const page of pages?.pages ?? []) {
      const run = page.items.find((item) => item.id === runId);
      if (run) return `${run.state} ${run.archived_at ?? ""}`;
    }
  }
  return undefined;
}

/** Take a purged run out of every cache; what a page shows of it stays until that has asked for it again. */
export function dropRun(client: QueryClient, runId: number): void {
  client.removeQueries({ queryKey: ["run", runId], type: "inactive" });
  client.setQueriesData<Pages>(
    { queryKey: ["runs"] },
    (pages) =>
      pages && {
        ...pages,
        pages: pages.pages.map((page) => ({ ...page, items: page.items.filter((run) => run.id !== runId) })),
      },
  );
}
