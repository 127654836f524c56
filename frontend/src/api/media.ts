import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery } from "./requests";
import { runKeys } from "./runs";
import { live, ofRuns } from "./topics";
import type { MediaItem, MediaPage, MediaSeries } from "./types";

/** Items per request. */
const PAGE_SIZE = 1000;

export const mediaKeys = {
  /** Everything about the media of a run. */
  all: (run: number) => [...runKeys.everythingOf(run), "media"] as const,
  names: (run: number) => [...mediaKeys.all(run), "names"] as const,
  series: (run: number, { name, kind }: SeriesKey) => [...mediaKeys.all(run), "series", kind, name] as const,
};

type SeriesKey = Pick<MediaSeries, "name" | "kind">;

export const mediaNamesQuery = (run: number) =>
  apiQuery(
    mediaKeys.names(run),
    "/api/v1/runs/{run_id}/media/names",
    { path: { run_id: run } },
    live(ofRuns([run], "run.files")),
  );

/** All media of one name and kind, in the order of their steps. */
export const mediaSeriesQuery = (run: number, { name, kind }: SeriesKey) =>
  queryOptions({
    queryKey: mediaKeys.series(run, { name, kind }),
    ...live(ofRuns([run], "run.files")),
    queryFn: async ({ signal }): Promise<MediaItem[]> => {
      const items: MediaItem[] = [];
      let cursor: string | null = null;
      do {
        const query = { name, kind, limit: PAGE_SIZE, cursor };
        const page: MediaPage = await call("get", "/api/v1/runs/{run_id}/media", {
          params: { path: { run_id: run }, query },
          signal,
        });
        items.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return items;
    },
  });
