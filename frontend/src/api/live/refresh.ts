import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";
import { comparisonKeys } from "../comparisons";
import { figureKeys, figureKindsQuery, kindAt } from "../figures";
import { paperKeys } from "../papers";
import {
  changedRunsQuery,
  dropRun,
  listsShowMetrics,
  patchLists,
  patchRun,
  runKeys,
  runQuery,
  shownState,
} from "../runs";
import { studyKeys } from "../studies";
import { applyJob, isUnfinished } from "../jobs";
import type { ListedRun, Study } from "../types";
import type { LiveEvent } from "./events";
import {
  LIST_REFRESH_MS,
  REFRESH_MS,
  type Stale,
  STALE_FACETS,
  STALE_LISTS,
  staleAfter,
} from "./staleQueries";

/** If more runs than this changed, the lists that show them are fetched instead. */
const MAX_PATCHED_RUNS = 4;

interface Shared extends Stale {
  /** Return the runs that a query shows, or null if any run can change it. */
  runsOf: (key: QueryKey, client: QueryClient) => readonly unknown[] | null;
  /** True for figures that change with the files of a run. */
  followsFiles?: true;
}

/** Queries that show several runs. They are fetched again if one of these runs, or its files, changed. */
const SHARED: readonly Shared[] = [
  { queryKey: figureKeys.all, interval: 0, runsOf: runsInKey },
  { queryKey: comparisonKeys.all, interval: LIST_REFRESH_MS, runsOf: runsInKey },
  { queryKey: figureKeys.all, interval: 0, runsOf: runsInKey, followsFiles: true },
  { queryKey: studyKeys.all, interval: LIST_REFRESH_MS, runsOf: runsOfStudy },
  // A diagram without a run shows the newest one.
  {
    queryKey: paperKeys.allDiagrams,
    interval: LIST_REFRESH_MS,
    runsOf: (key) => (key.at(-1) === null ? null : [key.at(-1)]),
  },
];

interface Pending {
  /** Changed runs to patch in lists. */
  runs: Set<number>;
  queries: Map<string, Stale>;
  /** Changed runs since each group of shared queries was last fetched. */
  changed: Set<number>[];
}

const nothing = (): Pending => ({
  runs: new Set(),
  queries: new Map(),
  changed: SHARED.map(() => new Set()),
});

/**
 * Fetches stale queries that are on screen, at most every REFRESH_MS. A query that becomes stale while it is being
 * fetched is fetched once more after the response, so a slow server is never overloaded. A hidden tab fetches nothing;
 * it catches up when it becomes visible.
 */
export class Refresher {
  private pending = nothing();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastFlush = 0;
  private readonly fetchedAt = new Map<string, number>();

  constructor(private readonly client: QueryClient) {}

  take(event: LiveEvent): void {
    if (event.kind === "refetch") {
      void this.client.invalidateQueries({ refetchType: refetchType() });
      return;
    }
    for (const stale of staleAfter(event)) this.later(stale);
    switch (event.kind) {
      case "run.removed":
        dropRun(this.client, event.run_id);
        this.markChanged(event.run_id);
        break;
      case "run.changed":
        this.pending.runs.add(event.run_id);
        this.markChanged(event.run_id);
        break;
      case "run.metrics":
        this.markChanged(event.run_id);
        // Patching a row does not update its metrics, so lists with metrics are fetched again.
        if (listsShowMetrics(this.client)) this.later(STALE_LISTS);
        break;
      case "run.files":
        this.pending.runs.add(event.run_id);
        this.markChanged(event.run_id, true);
        break;
      case "job.changed":
        for (const queryKey of applyJob(this.client, event.job)) this.later({ queryKey, interval: 0 });
        if (event.job.run_id !== null && !isUnfinished(event.job)) {
          // Figures of evaluations and calibrations, which the files of a run change too.
          this.markChanged(event.job.run_id, true);
          // A run's best score may have changed.
          if (event.job.kind === "evaluation") this.pending.runs.add(event.job.run_id);
        }
        break;
    }
    this.schedule();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private markChanged(run: number, byFiles = false): void {
    SHARED.forEach(({ followsFiles = false }, group) => {
      if (followsFiles === byFiles) this.pending.changed[group]?.add(run);
    });
  }

  /** Fetch lists and their filter values again, because runs were added or removed, or changed their state. */
  private laterLists(): void {
    this.later(STALE_LISTS);
    this.later(STALE_FACETS);
  }

  private later(stale: Stale): void {
    this.pending.queries.set(JSON.stringify(stale.queryKey), stale);
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    const wait = Math.max(0, this.lastFlush + REFRESH_MS - Date.now());
    this.timer = setTimeout(() => this.flush(), wait);
  }

  private flush(): void {
    const { runs, queries, changed } = this.pending;
    this.pending = nothing();
    this.timer = undefined;
    this.lastFlush = Date.now();
    this.patchRuns(runs);
    for (const stale of queries.values()) this.refresh(stale);
    if (runs.size > MAX_PATCHED_RUNS) {
      this.refresh(STALE_LISTS);
      this.refresh(STALE_FACETS);
    }
    changed.forEach((ids, group) => this.refreshShared(group, ids));
    const { pending } = this;
    if (pending.runs.size + pending.queries.size > 0 || pending.changed.some((ids) => ids.size > 0))
      this.schedule();
  }

  private patchRuns(runs: Set<number>): void {
    const patched: number[] = [];
    for (const id of runs) {
      if (runs.size > MAX_PATCHED_RUNS || !this.isShown(id)) this.refresh(detailOf(id));
      // A response that is in flight may be older than the change.
      else if (this.client.isFetching({ queryKey: runKeys.detail(id) }) > 0) this.pending.runs.add(id);
      else patched.push(id);
    }
    const [first, ...others] = patched;
    if (patched.length > 1 && this.client.isFetching({ queryKey: runKeys.allChanged }) > 0) {
      for (const id of patched) this.pending.runs.add(id);
    } else if (first !== undefined) void (others.length > 0 ? this.fetchRuns(patched) : this.fetchRun(first));
  }

  /** Return true if a visible page shows this run, or a list that may contain it. */
  private isShown(id: number): boolean {
    const cache = this.client.getQueryCache();
    const places = [runKeys.lists, runKeys.detail(id)];
    return (
      refetchType() === "active" &&
      places.some((queryKey) => cache.find({ queryKey, exact: false, type: "active" }))
    );
  }

  /** Return true if the query's interval has not passed yet. Otherwise mark it as fetched now. */
  private isEarly({ queryKey, interval }: Stale): boolean {
    const name = JSON.stringify(queryKey);
    if (Date.now() - (this.fetchedAt.get(name) ?? -Infinity) < interval) return true;
    this.fetchedAt.set(name, Date.now());
    return false;
  }

  /** Fetch the queries on screen that match, or defer them if they are being fetched or it is too early. */
  private refresh(stale: Stale): void {
    const { queryKey } = stale;
    if (this.client.isFetching({ queryKey }) > 0 || this.isEarly(stale)) return this.later(stale);
    void this.client.invalidateQueries({ queryKey, refetchType: refetchType() });
  }

  private refreshShared(group: number, changed: Set<number>): void {
    const stale = SHARED[group];
    if (!stale || changed.size === 0) return;
    const { queryKey, runsOf, followsFiles } = stale;
    const kinds = this.client.getQueryData(figureKindsQuery.queryKey) ?? [];
    const predicate = (query: Query) =>
      (runsOf(query.queryKey, this.client)?.some((id) => changed.has(id as number)) ?? true) &&
      (!followsFiles || kindAt(kinds, String(query.meta?.["figure"]))?.follows_files === true);
    if (this.client.isFetching({ queryKey, predicate }) > 0 || this.isEarly(stale)) {
      for (const id of changed) this.pending.changed[group]?.add(id);
    } else void this.client.invalidateQueries({ queryKey, predicate, refetchType: refetchType() });
  }

  private async fetchRun(id: number): Promise<void> {
    const before = shownState(this.client, id);
    try {
      const run = await this.client.fetchQuery({ ...runQuery(id), staleTime: 0, retry: false });
      this.checkLists(run, before, patchRun(this.client, run));
    } catch {
      // The run was purged, or the server is unreachable. Pages keep their data; reconnecting refetches everything.
      this.laterLists();
      this.schedule();
    }
  }

  /** Fetch several changed runs in one call. */
  private async fetchRuns(ids: number[]): Promise<void> {
    const before = new Map(ids.map((id) => [id, shownState(this.client, id)]));
    try {
      const { items } = await this.client.fetchQuery({
        ...changedRunsQuery(ids),
        staleTime: 0,
        retry: false,
      });
      for (const run of items) {
        this.checkLists(run, before.get(run.id), patchLists(this.client, run));
        before.delete(run.id);
      }
      for (const id of ids) this.refresh(detailOf(id));
      // Missing runs were archived or purged.
      if (before.size > 0) this.laterLists();
    } catch {
      this.laterLists();
    }
    this.schedule();
  }

  /** Fetch lists again if a patched run shows that they are outdated. */
  private checkLists({ id }: ListedRun, before: string | undefined, { listed }: { listed: boolean }): void {
    // A new run, or one with a new state, may belong elsewhere in the lists or under another filter.
    if (!listed || before !== shownState(this.client, id)) {
      this.laterLists();
      this.schedule();
    } else if (this.client.isFetching({ queryKey: runKeys.lists }) > 0) {
      // A response that is in flight may be older than this run and would undo the patch.
      this.later(STALE_LISTS);
      this.schedule();
    }
  }
}

const detailOf = (id: number): Stale => ({ queryKey: runKeys.detail(id), interval: 0 });

/** A hidden tab only marks queries as stale. The query client fetches them when the tab becomes visible. */
function refetchType(): "active" | "none" {
  return document.visibilityState === "hidden" ? "none" : "active";
}

/** Return the runs that the last part of a figure's or comparison's key names. */
function runsInKey(key: QueryKey): unknown[] {
  const last = key.at(-1);
  const runs = typeof last === "object" && last !== null && "runs" in last ? last.runs : [];
  return Array.isArray(runs) ? runs : [];
}

/** Return the runs of the study that a key names. New runs of a study are announced as a change of it. */
function runsOfStudy([, id]: QueryKey, client: QueryClient): unknown[] | null {
  const queryKey = studyKeys.detail(id as number);
  const study = client.getQueryData<Study>(queryKey);
  // A list of studies shows no runs, and a response that is in flight may have more runs.
  if (!study || client.isFetching({ queryKey, exact: true }) > 0) return null;
  return study.table.flatMap(({ runs }) => runs.map(({ run_id }) => run_id));
}
