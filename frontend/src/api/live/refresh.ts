import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";
import { changedRunsQuery, runQuery } from "../queries";
import type { Run } from "../types";
import type { LiveEvent } from "./events";
import { dropRun, patchLists, patchRun, shownState } from "./patch";

/** How often, at most, what a page shows is fetched again. */
export const REFRESH_MS = 1000;
/** Lists and comparisons are larger; between two fetches of a list its rows are patched one by one. */
export const LIST_REFRESH_MS = 2000;
/** What a list can be filtered by, the names of a run's metrics, and the scores of games seldom change. */
export const SELDOM_REFRESH_MS = 10_000;
/** If more runs than this changed, the lists that show them are fetched instead. */
const PATCHED_AT_ONCE = 4;

/** What shows several runs at once, by the first part of its key. */
const TOGETHER = ["figure", "compare"] as const;
type Together = (typeof TOGETHER)[number];

interface Pending {
  runs: Set<number>;
  keys: Map<string, QueryKey>;
  /** The runs whose numbers, names or states moved since each of these was fetched. */
  moved: Record<Together, Set<number>>;
}

const nothing = (): Pending => ({
  runs: new Set(),
  keys: new Map(),
  moved: { figure: new Set(), compare: new Set() },
});

/**
 * Turns events of the live stream into fetches of what is on screen, at most every REFRESH_MS. What is being fetched
 * while it changes again waits for its answer and is then fetched once more, so a slow server is never starved. A
 * hidden tab fetches nothing: what changed meanwhile is fetched when it is looked at again.
 */
export class Refresher {
  private pending = nothing();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastFlush = 0;
  private readonly fetchedAt = new Map<string, number>();

  constructor(private readonly client: QueryClient) {}

  take(event: LiveEvent): void {
    switch (event.kind) {
      case "refetch":
        void this.client.invalidateQueries({ refetchType: shownType() });
        return;
      case "run.removed":
        dropRun(this.client, event.run_id);
        this.later(["run", event.run_id, "detail"]);
        for (const root of TOGETHER) this.pending.moved[root].add(event.run_id);
        for (const root of ["games", "studies", "papers", "diagram"]) this.later([root]);
        this.laterLists();
        break;
      case "play.changed":
        this.later(["play"]);
        this.later(["games"]);
        break;
      case "worker.changed":
        this.later(["workers"]);
        this.later(["health"]);
        break;
      case "study.changed":
      case "study.removed":
        this.later(["studies"]);
        this.later(["papers"]);
        break;
      case "run.changed":
        this.pending.runs.add(event.run_id);
        for (const root of TOGETHER) this.pending.moved[root].add(event.run_id);
        this.later(["games"]);
        this.later(["studies"]);
        this.later(["papers"]);
        this.later(["diagram"]);
        break;
      case "run.metrics":
        this.later(["diagram"]);
        this.later(["run", event.run_id, "metric-names"]);
        this.later(["studies"]);
        for (const root of TOGETHER) this.pending.moved[root].add(event.run_id);
        // A row patched by itself brings no metrics: a list that tells them is fetched again.
        if (this.listTellsMetrics()) this.later(["runs"]);
        break;
      case "run.log":
        this.later(["run", event.run_id, "log"]);
        break;
      case "run.files":
        for (const part of ["checkpoints", "replays", "recordings", "evaluations", "live"]) {
          this.later(["run", event.run_id, part]);
        }
        this.later(["figure", "evaluations", { runs: [event.run_id] }]);
        this.pending.runs.add(event.run_id);
        this.later(["games"]);
        this.later(["papers"]);
        break;
    }
    this.schedule();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private listTellsMetrics(): boolean {
    const lists = this.client.getQueryCache().findAll({ queryKey: ["runs"], type: "active" });
    return lists.some(({ queryKey: [, query] }) => tellsMetrics(query));
  }

  /** Runs came, went or changed their state: so did the lists, and what they can be filtered by. */
  private laterLists(): void {
    this.later(["runs"]);
    this.later(["run-facets"]);
  }

  private later(key: QueryKey): void {
    this.pending.keys.set(JSON.stringify(key), key);
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    const wait = Math.max(0, this.lastFlush + REFRESH_MS - Date.now());
    this.timer = setTimeout(() => this.flush(), wait);
  }

  private flush(): void {
    const { runs, keys, moved } = this.pending;
    this.pending = nothing();
    this.timer = undefined;
    this.lastFlush = Date.now();
    const many = runs.size > PATCHED_AT_ONCE;
    const changed: number[] = [];
    for (const id of runs) {
      if (many || !this.isShown(id)) this.refresh(["run", id, "detail"]);
      // An answer that is on the way may be older than the change.
      else if (this.client.isFetching({ queryKey: runQuery(id).queryKey }) > 0) this.pending.runs.add(id);
      else changed.push(id);
    }
    const [only, ...others] = changed;
    if (changed.length > 1 && this.client.isFetching({ queryKey: ["changed-runs"] }) > 0) {
      for (const id of changed) this.pending.runs.add(id);
    } else if (only !== undefined) void (others.length > 0 ? this.fetchRuns(changed) : this.fetchRun(only));
    for (const key of keys.values()) this.refresh(key);
    if (many) {
      this.refresh(["runs"]);
      this.refresh(["run-facets"]);
    }
    for (const root of TOGETHER) if (moved[root].size > 0) this.refreshTogether(root, moved[root]);
    const { pending } = this;
    if (pending.runs.size + pending.keys.size > 0 || TOGETHER.some((root) => pending.moved[root].size > 0))
      this.schedule();
  }

  /** Whether a page that can be seen shows this run, or a list that may have it. */
  private isShown(id: number): boolean {
    const cache = this.client.getQueryCache();
    const places = [["runs"], runQuery(id).queryKey];
    return (
      shownType() === "active" &&
      places.some((queryKey) => cache.find({ queryKey, exact: false, type: "active" }))
    );
  }

  /** Whether it is too early to fetch this again; where it is not, it counts as fetched now. */
  private isEarly(queryKey: QueryKey): boolean {
    const name = JSON.stringify(queryKey);
    if (Date.now() - (this.fetchedAt.get(name) ?? -Infinity) < paceOf(queryKey)) return true;
    this.fetchedAt.set(name, Date.now());
    return false;
  }

  /** Fetch again what is on screen under this key, unless its answer is on the way: then once more after it. */
  private refresh(queryKey: QueryKey): void {
    if (this.client.isFetching({ queryKey }) > 0 || this.isEarly(queryKey)) return this.later(queryKey);
    void this.client.invalidateQueries({ queryKey, refetchType: shownType() });
  }

  private refreshTogether(root: Together, changed: Set<number>): void {
    const predicate = (query: Query) => runsOf(query.queryKey).some((id) => changed.has(id));
    const queryKey = [root];
    if (this.client.isFetching({ queryKey, predicate }) > 0 || this.isEarly(queryKey)) {
      for (const id of changed) this.pending.moved[root].add(id);
    } else void this.client.invalidateQueries({ queryKey, predicate, refetchType: shownType() });
  }

  private async fetchRun(id: number): Promise<void> {
    const before = shownState(this.client, id);
    try {
      const run = await this.client.fetchQuery({ ...runQuery(id), staleTime: 0, retry: false });
      this.follow(run, before, patchRun(this.client, run));
    } catch {
      // Purged meanwhile, or the server is away: the page keeps what it has, and a full refetch follows reconnecting.
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
        this.follow(run, before.get(run.id), patchLists(this.client, run));
        before.delete(run.id);
      }
      for (const id of ids) this.refresh(["run", id, "detail"]);
      // What is missing was archived or purged meanwhile.
      if (before.size > 0) this.laterLists();
    } catch {
      this.laterLists();
    }
    this.schedule();
  }

  /** Fetch lists again where a patched run shows that they are outdated. */
  private follow({ id }: Run, before: string | undefined, { listed }: { listed: boolean }): void {
    // A new run, or one whose state moved, may belong elsewhere in the lists or under another filter.
    if (!listed || before !== shownState(this.client, id)) {
      this.laterLists();
      this.schedule();
    } else if (this.client.isFetching({ queryKey: ["runs"] }) > 0) {
      // An answer that is on its way may be older than this run and would undo the patch.
      this.later(["runs"]);
      this.schedule();
    }
  }
}

/** In a hidden tab nothing is fetched, only marked; the query client fetches it when the tab is looked at again. */
function shownType(): "active" | "none" {
  return document.visibilityState === "hidden" ? "none" : "active";
}

function paceOf(queryKey: QueryKey): number {
  const [root] = queryKey;
  if (queryKey.at(-1) === "metric-names" || root === "run-facets" || root === "games" || root === "papers")
    return SELDOM_REFRESH_MS;
  return ["runs", "compare", "studies", "diagram"].includes(String(root)) ? LIST_REFRESH_MS : 0;
}

/** Whether a list of runs was asked for with metrics. */
function tellsMetrics(query: unknown): boolean {
  if (typeof query !== "object" || query === null || !("metric" in query)) return false;
  return Array.isArray(query.metric) && query.metric.length > 0;
}

function runsOf(key: QueryKey): number[] {
  const last = key.at(-1);
  const runs = typeof last === "object" && last !== null && "runs" in last ? last.runs : [];
  return Array.isArray(runs) ? runs : [];
}
