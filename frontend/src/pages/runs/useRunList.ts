import { useCallbackRef } from "@mantine/hooks";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { RUN_PAGE_SIZE, type RunListQuery, runPageQuery } from "@/api/runs";
import type { ListedRun, RunPage } from "@/api/types";
import { NO_VALUES } from "./view";

/** Rows before the visible ones and after them whose pages are loaded, so that scrolling finds them. */
const MARGIN = 30;
/** While the page scrolls, the rows of this time are loaded in advance, but not more than this many. */
const AHEAD_MS = 600;
const MAX_AHEAD = 300;
/** A page is loaded if its rows stay visible this long. Dragging the scrollbar passes many. */
const REST_MS = 60;

/** The rows of the table, of which only the visible ones and those around them are loaded. */
export interface RunRows {
  /** The filters and the order of the list as text. */
  list: string;
  /** Number of all rows. */
  count: number;
  /** Return the run of a row, or undefined if it is not loaded. */
  runAt: (row: number) => ListedRun | undefined;
  /** Return the row of a loaded run, or -1. */
  rowOf: (id: number) => number;
  /** The loaded runs, in the order of their rows. */
  loaded: readonly ListedRun[];
  /** Load these rows. Others may be forgotten. */
  show: (first: number, end: number) => void;
  /** Return the runs of these rows, which are loaded if needed. */
  load: (first: number, end: number) => Promise<ListedRun[]>;
  /** Load the pages again that failed, or undefined if none did. */
  retry: (() => void) | undefined;
}

/** Return the pages of the list around the shown rows, and functions that show others. */
export function useRunList(request: RunListQuery) {
  const client = useQueryClient();
  const first = useQuery({
    ...runPageQuery(request, 0),
    // Values of columns arrive later than the runs, which were requested before the page's code was loaded.
    placeholderData: (before) =>
      before ?? client.getQueryData(runPageQuery({ ...request, ...NO_VALUES }, 0).queryKey),
  });
  // The other pages stay as they are until the first page of a new list has arrived.
  const listed = useLatest(request, first.data !== undefined && !first.isPlaceholderData);
  const [range, setRange] = useState({ from: 1, to: 0 });
  const total = first.data?.total ?? 0;
  const numbers = useMemo(() => {
    const last = Math.min(range.to, Math.ceil(total / RUN_PAGE_SIZE) - 1);
    return Array.from({ length: Math.max(0, last - range.from + 1) }, (_, at) => range.from + at);
  }, [range, total]);
  const { data: others, failed } = useQueries({
    queries: numbers.map((number) => runPageQuery(listed, number)),
    combine: combinePages,
  });
  const pages = useMemo(() => {
    const found = new Map<number, RunPage>(first.data ? [[0, first.data]] : []);
    numbers.forEach((number, at) => {
      const page = others[at];
      if (page) found.set(number, page);
    });
    return found;
  }, [first.data, numbers, others]);

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const wanted = useRef({ visible: range, range });
  const shown = useRef({ start: 0, at: 0 });
  const show = useCallbackRef((start: number, end: number) => {
    const at = performance.now();
    const ahead = ((start - shown.current.start) / Math.max(1, at - shown.current.at)) * AHEAD_MS;
    shown.current = { start, at };
    const pagesOf = (before: number, after: number) => ({
      from: Math.max(1, Math.floor((start - before) / RUN_PAGE_SIZE)),
      to: Math.floor((end + after) / RUN_PAGE_SIZE),
    });
    const visible = pagesOf(MARGIN, MARGIN);
    const range = pagesOf(
      MARGIN + Math.min(MAX_AHEAD, Math.max(0, -ahead)),
      MARGIN + Math.min(MAX_AHEAD, Math.max(0, ahead)),
    );
    if (areSame(range, wanted.current.range)) return;
    const isWaiting = timer.current !== undefined && areSame(visible, wanted.current.visible);
    wanted.current = { visible, range };
    // Other rows of the same pages, and another speed, must not delay them.
    if (isWaiting) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = undefined;
      setRange(wanted.current.range);
    }, REST_MS);
  });
  const retry = useCallbackRef(() => {
    for (const query of failed) void query.refetch();
  });
  const loadPage = useCallbackRef((number: number) => client.ensureQueryData(runPageQuery(listed, number)));
  const list = useMemo(() => {
    const { metric: _metric, include: _include, compute: _compute, ...filtersAndOrder } = listed;
    return JSON.stringify(filtersAndOrder);
  }, [listed]);
  return { query: first, list, pages, total, show, loadPage, retry: failed.length > 0 ? retry : undefined };
}

interface Pages {
  from: number;
  to: number;
}
const areSame = (one: Pages, other: Pages) => one.from === other.from && one.to === other.to;

type PageResult = ReturnType<typeof useQuery<RunPage>>;

const combinePages = (results: PageResult[]) => ({
  data: results.map(({ data }) => data),
  failed: results.filter(({ isError, data }) => isError && !data),
});

/** Return the newest value for which the condition was true. */
function useLatest<T>(value: T, isReady: boolean): T {
  const [latest, setLatest] = useState(value);
  const isSame = latest === value || JSON.stringify(latest) === JSON.stringify(value);
  if (isReady && !isSame) setLatest(value);
  return isReady && !isSame ? value : latest;
}

/** Return the rows of a list, with some runs on top. Their own places in the list are left out once they are loaded. */
export function useRows(
  { list, pages, total, show, loadPage, retry }: ReturnType<typeof useRunList>,
  onTop: readonly ListedRun[],
): RunRows {
  return useMemo(() => {
    const top = new Set(onTop.map(({ id }) => id));
    // A run may move between pages while they are fetched, so show it only once.
    const seen = new Set(top);
    const left: number[] = [];
    const loaded = [...onTop];
    const places = new Map<number, ListedRun>();
    for (const [number, page] of [...pages].sort(([a], [b]) => a - b))
      page.items.forEach((run, at) => {
        const place = number * RUN_PAGE_SIZE + at;
        if (top.has(run.id)) left.push(place);
        else if (!seen.has(run.id)) {
          seen.add(run.id);
          places.set(place, run);
          loaded.push(run);
        }
      });
    const placeOf = (row: number) =>
      left.reduce((place, gone) => (gone <= place ? place + 1 : place), row - onTop.length);
    const rows = new Map(onTop.map(({ id }, row) => [id, row]));
    for (const [place, { id }] of places)
      rows.set(id, place + onTop.length - left.filter((gone) => gone < place).length);
    const load = async (first: number, end: number) => {
      const wanted = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
      const numbers = wanted
        .filter((row) => row >= onTop.length)
        .map((row) => Math.floor(placeOf(row) / RUN_PAGE_SIZE));
      const fetched = await Promise.all(
        [...new Set(numbers)].map(async (number) => [number, await loadPage(number)] as const),
      );
      const byNumber = new Map(fetched);
      return wanted.flatMap((row) => {
        if (row < onTop.length) return onTop[row] ?? [];
        const place = placeOf(row);
        return byNumber.get(Math.floor(place / RUN_PAGE_SIZE))?.items[place % RUN_PAGE_SIZE] ?? [];
      });
    };
    return {
      list,
      load,
      count: onTop.length + Math.max(0, total - left.length),
      runAt: (row) => (row < onTop.length ? onTop[row] : places.get(placeOf(row))),
      rowOf: (id) => rows.get(id) ?? -1,
      loaded,
      show,
      retry,
    };
  }, [list, pages, total, onTop, show, loadPage, retry]);
}
