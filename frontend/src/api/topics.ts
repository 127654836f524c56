/** Notices that may change a document. Each noun declares the topics of its queries. */

import type { QueryClient, QueryMeta } from "@tanstack/react-query";
import type { LiveEvent } from "./live/events";
import type { JobKind } from "./types";
import { partsOf, shareVersions, versionOf } from "./versions";

/** Notices with these fields, or all of a kind. */
export interface Topic {
  event: Exclude<LiveEvent["kind"], "hello" | "document.changed" | "refetch">;
  where?: Record<string, string | number>;
}

export interface Live {
  topics: readonly Topic[] | ((client: QueryClient) => readonly Topic[]);
  /** Minimum number of seconds between two updates. */
  every: number;
}

export const FIGURE_SECONDS = 1;
/** Lists and comparisons are large. */
export const LIST_SECONDS = 2;
/** Filter values, metric names, game scores and papers seldom change. */
export const SELDOM_SECONDS = 10;

interface AnyQuery {
  meta: QueryMeta | undefined;
  state: { data: unknown };
}

export const liveOf = ({ meta }: Pick<AnyQuery, "meta">) => meta?.["live"] as Live | undefined;

/** Return true if the live stream can update all data of a query. */
export const isFollowed = (query: AnyQuery): boolean =>
  liveOf(query) !== undefined && partsOf(query.state.data).every((part) => versionOf(part) !== undefined);

/** Options of a query that the live stream updates while it is on screen. */
export const live = <Meta extends object>(topics: Live["topics"], every = 0, meta?: Meta) => ({
  meta: { ...meta, live: { topics, every } satisfies Live },
  structuralSharing: shareVersions,
  // The stream updates what changed while the tab was hidden.
  refetchOnWindowFocus: (query: AnyQuery) => !isFollowed(query),
});

/** With more runs than this, notices about any run are followed. The server accepts 100 topics. */
const MAX_NAMED_RUNS = 20;

type RunEvent = Extract<Topic["event"], `run.${string}`>;

/** Return the topics of events of some runs. */
export const ofRuns = (runs: readonly number[], ...events: RunEvent[]): Topic[] =>
  runs.length > MAX_NAMED_RUNS
    ? ofAny(...events)
    : runs.flatMap((run_id) => events.map((event) => ({ event, where: { run_id } })));

/** Return the topics of all events of some kinds. */
export const ofAny = (...events: Topic["event"][]): Topic[] => events.map((event) => ({ event }));

/** Return the topics of jobs of a kind, for example of one run. */
export const ofJobs = (kind: JobKind, where: { run_id?: number } = {}): Topic[] => [
  { event: "job.changed", where: { kind, ...where } },
];
