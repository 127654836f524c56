import type { Query, QueryClient } from "@tanstack/react-query";
import { isFollowed, liveOf, type Topic } from "../topics";
import { partsOf, readVersion, type Version, versionOf } from "../versions";
import type { DocumentChanged, LiveEvent } from "./events";
import { applyPatch } from "./patch";
import type { Watch } from "./watches";

/** Wait until a page has rendered all its parts. */
const WATCH_DELAY_MS = 50;
/** Minimum interval between two requests of a query that the stream cannot update. */
const REFETCH_MS = 1000;

/**
 * Keeps the queries on screen up to date. It watches their documents over the live stream, and applies the patches that
 * the server sends. Queries without a document, such as those of POST requests, are fetched again after a notice. A
 * hidden tab watches and fetches nothing. When it becomes visible, the server sends what changed.
 */
export class LiveDocuments {
  private readonly unsubscribe: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Queries that will be fetched again, by their hash. */
  private readonly refetches = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    private readonly client: QueryClient,
    private readonly watch: (watches: Watch[], notices: Topic[]) => void,
    /** Return the notices that are needed for other data than queries. */
    private readonly heard: () => readonly Topic[] = () => [],
  ) {
    this.unsubscribe = client.getQueryCache().subscribe((event) => {
      if (liveOf(event.query) === undefined) return;
      const isAnswered =
        event.type === "updated" &&
        (event.action.type === "error" || (event.action.type === "success" && !event.action.manual));
      if (isAnswered || event.type === "removed" || event.type.startsWith("observer")) this.watchSoon();
    });
    document.addEventListener("visibilitychange", this.watchNow);
  }

  take(event: LiveEvent): void {
    switch (event.kind) {
      case "hello":
        this.watchSoon();
        break;
      case "refetch":
        void this.client.invalidateQueries({
          predicate: (query) => !isFollowed(query),
          refetchType: isHidden() ? "none" : "active",
        });
        this.watchSoon();
        break;
      case "document.changed":
        for (const query of isHidden() ? [] : this.shown()) this.change(query, event);
        break;
      default:
        for (const query of this.client.getQueryCache().getAll()) this.notice(query, event);
    }
  }

  stop(): void {
    this.unsubscribe();
    document.removeEventListener("visibilitychange", this.watchNow);
    clearTimeout(this.timer);
    for (const timer of this.refetches.values()) clearTimeout(timer);
  }

  private readonly watchNow = (): void => {
    clearTimeout(this.timer);
    this.timer = undefined;
    const watches = isHidden() ? [] : this.shown().flatMap((query) => this.watchesOf(query));
    this.watch(watches, [...this.heard(), ...this.unfollowed().flatMap((query) => this.topicsOf(query))]);
  };

  /** Send the watches and the needed notices of the page soon. */
  watchSoon(): void {
    this.timer ??= setTimeout(this.watchNow, WATCH_DELAY_MS);
  }

  private shown(): Query[] {
    const queries = this.client.getQueryCache().getAll();
    return queries.filter((query) => liveOf(query) !== undefined && query.isActive());
  }

  /** Return the queries that notices let the page fetch again, because the stream cannot update them. */
  private unfollowed(): Query[] {
    const queries = this.client.getQueryCache().getAll();
    return queries.filter(
      (query) => liveOf(query) !== undefined && query.state.status !== "pending" && !isFollowed(query),
    );
  }

  private topicsOf(query: Query): readonly Topic[] {
    const { topics = [] } = liveOf(query) ?? {};
    return typeof topics === "function" ? topics(this.client) : topics;
  }

  private watchesOf(query: Query): Watch[] {
    const live = liveOf(query);
    const topics = this.topicsOf(query);
    if (!live || topics.length === 0 || !isFollowed(query)) return [];
    const versions = partsOf(query.state.data).flatMap((part) => versionOf(part) ?? []);
    return versions.map(({ path, etag, notice }) => ({
      path,
      etag,
      notice,
      topics: [...topics],
      every: live.every,
    }));
  }

  /** Apply a change of a document to a query that shows it. */
  private change(query: Query, event: DocumentChanged): void {
    const { data } = query.state;
    const parts = partsOf(data);
    const at = parts.findIndex((part) => versionOf(part)?.path === event.path);
    const version = versionOf(parts[at]);
    if (!version || version.etag === event.etag || isOlder(event, version)) return;
    const next = nextVersion(version, event);
    if (!next) return this.refetch(query);
    const part = readVersion(next);
    const isList = parts.length > 1 || parts[0] !== data;
    this.client.setQueryData(
      query.queryKey,
      isList ? { ...(data as object), pages: parts.with(at, part) } : part,
    );
    // The pages after this one start elsewhere.
    if (at < parts.length - 1 && cursorOf(version) !== cursorOf(next)) this.refetch(query);
  }

  private refetch({ queryKey }: Query): void {
    void this.client.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
  }

  /** Fetch a query again after a notice if the stream cannot update it. */
  private notice(query: Query, event: LiveEvent): void {
    const live = liveOf(query);
    if (!live || isFollowed(query) || !this.topicsOf(query).some((topic) => matches(topic, event))) return;
    if (isHidden() || !query.isActive()) query.invalidate();
    else this.refetchLater(query, Math.max(live.every * 1000, REFETCH_MS));
  }

  private refetchLater(query: Query, interval: number, wait = waitAfter(query, interval)): void {
    if (this.refetches.has(query.queryHash)) return;
    const timer = setTimeout(() => {
      this.refetches.delete(query.queryHash);
      // A response that is in flight may be older than the change.
      if (query.state.fetchStatus === "fetching") this.refetchLater(query, interval, interval);
      else if (!isFollowed(query)) this.refetch(query);
    }, wait);
    this.refetches.set(query.queryHash, timer);
  }
}

const isHidden = () => document.visibilityState === "hidden";

/** Return the milliseconds until a query was last fetched an interval ago. */
const waitAfter = ({ state: { dataUpdatedAt, errorUpdatedAt } }: Query, interval: number) =>
  Math.max(0, Math.max(dataUpdatedAt, errorUpdatedAt) + interval - Date.now());

/** Return true if a notice is of a topic. A notice about many runs names none, and is about each. */
function matches({ event: kind, where = {} }: Topic, event: LiveEvent): boolean {
  const fields: object = event.kind === "job.changed" ? event.job : event;
  const values = new Map<string, unknown>(Object.entries(fields));
  const isOf = ([name, value]: [string, unknown]) =>
    values.get(name) === value || (name === "run_id" && !values.has(name));
  return kind === event.kind && Object.entries(where).every(isOf);
}

/** Return true if a page has read the document after the server did. */
function isOlder({ notice }: DocumentChanged, version: Version): boolean {
  const [origin, count] = notice?.split("-") ?? [];
  const [ownOrigin, ownCount] = version.notice?.split("-") ?? [];
  return origin !== undefined && origin === ownOrigin && Number(count) < Number(ownCount);
}

/** Return the version after a change, or undefined if the page has to fetch it. */
function nextVersion(version: Version, change: DocumentChanged): Version | undefined {
  const { etag, from, notice = version.notice, patch, document } = change;
  if (etag === undefined) return undefined;
  if (!patch) return { ...version, etag, notice, body: document };
  return from === version.etag
    ? { ...version, etag, notice, body: applyPatch(version.body, patch) }
    : undefined;
}

const cursorOf = ({ body }: Version) => (body as { next_cursor?: unknown }).next_cursor;
