import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";
import { type RunListQuery, runQuery } from "../queries";
import type { LiveEvent } from "./events";
import { dropRun, patchRun, shownState } from "./patch";

/** How often, at most, what a page shows is fetched again. */
export const REFRESH_MS = 500;
/** Lists of runs are larger; between two fetches their rows are patched one by one. */
export const LIST_REFRESH_MS = 2000;
/** More changed runs than this are fetched as a list, not one by one. */
const ONE_BY_ONE = 4;

interface Pending {
  runs: Set<number>;
  keys: Map<string, QueryKey>;
  figuresOf: Set<number>;
}

const nothing = (): Pending => ({ runs: new Set(), keys: new Map(), figuresOf: new Set() });

/**
 * Turns events of the live stream into fetches of what is on screen, at most every REFRESH_MS. What is being fetched
 * while it changes again waits for its answer and is then fetched once more, so a slow server is never starved.
 */
export class Refresher {
  private pending = nothing();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastFlush = 0;
  private lastList = 0;

  constructor(private readonly client: QueryClient) {}

  take(event: LiveEvent): void {
    switch (event.kind) {
      case "refetch":
        void this.client.invalidateQueries();
        return;
      case "run.removed":
        dropRun(this.client, event.run_id);
        this.later(["runs"]);
        break;
      case "worker.changed":
        this.later(["workers"]);
        this.later(["health"]);
        break;
      case "run.changed":
        this.pending.runs.add(event.run_id);
        break;
      case "run.metrics":
        this.later(["run", event.run_id, "metrics"]);
        this.later(["run", event.run_id, "metric-names"]);
        this.pending.figuresOf.add(event.run_id);
        // A row patched by itself brings no metrics: a list that tells them is fetched again.
        if (this.listTellsMetrics()) this.later(["runs"]);
        break;
      case "run.log":
        this.later(["run", event.run_id, "log"]);
        break;
      case "run.files":
        for (const part of ["checkpoints", "videos", "evaluations"]) this.later(["run", event.run_id, part]);
        this.pending.runs.add(event.run_id);
        break;
    }
    this.schedule();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private listTellsMetrics(): boolean {
    const lists = this.client.getQueryCache().findAll({ queryKey: ["runs"], type: "active" });
    return lists.some(({ queryKey: [, query] }) => ((query as RunListQuery).metric ?? []).length > 0);
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
    const { runs, keys, figuresOf } = this.pending;
    this.pending = nothing();
    this.timer = undefined;
    this.lastFlush = Date.now();
    const many = runs.size > ONE_BY_ONE;
    for (const id of runs) {
      if (many) this.refresh(["run", id, "detail"]);
      else void this.fetchRun(id);
    }
    for (const key of keys.values()) this.refresh(key);
    if (many) this.refresh(["runs"]);
    if (figuresOf.size > 0) this.refreshFigures(figuresOf);
    if (this.pending.keys.size > 0 || this.pending.figuresOf.size > 0) this.schedule();
  }

  /** Fetch again what is on screen under this key, unless its answer is on the way: then once more after it. */
  private refresh(queryKey: QueryKey): void {
    const lists = queryKey[0] === "runs";
    const early = lists && Date.now() - this.lastList < LIST_REFRESH_MS;
    if (early || this.client.isFetching({ queryKey }) > 0) return this.later(queryKey);
    if (lists) this.lastList = Date.now();
    void this.client.invalidateQueries({ queryKey });
  }

  private refreshFigures(changed: Set<number>): void {
    const shows = (query: Query) => runsOf(query.queryKey).some((id) => changed.has(id));
    for (const root of ["figure", "compare"]) {
      if (this.client.isFetching({ queryKey: [root], predicate: shows }) > 0) {
        for (const id of changed) this.pending.figuresOf.add(id);
      } else void this.client.invalidateQueries({ queryKey: [root], predicate: shows });
    }
  }

  private async fetchRun(id: number): Promise<void> {
    const before = shownState(this.client, id);
    try {
      const run = await this.client.fetchQuery({ ...runQuery(id), staleTime: 0, retry: false });
      const { listed } = patchRun(this.client, run);
      // A new run, or one whose state moved, may belong elsewhere in the lists or under another filter.
      if (!listed || before !== shownState(this.client, id)) {
        this.later(["runs"]);
        this.schedule();
      }
    } catch {
      // Purged meanwhile, or the server is away: the page keeps what it has, and a full refetch follows reconnecting.
      this.later(["runs"]);
      this.schedule();
    }
  }
}

function runsOf(key: QueryKey): number[] {
  const last = key.at(-1);
  const runs = typeof last === "object" && last !== null && "runs" in last ? last.runs : [];
  return Array.isArray(runs) ? (runs as number[]) : [];
}
