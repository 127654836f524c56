import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { figureAt } from "./figures";
import { runKeys } from "./runs";
import { studyKeys } from "./studies";
import { LIST_SECONDS, live, ofAny, ofJobs, ofRuns, SELDOM_SECONDS } from "./topics";
import type { PaperPreview, PreviewPart, QueryOf, StartPart } from "./types";

export type PaperFigureQuery = QueryOf<"/api/v1/papers/{paper}/{item}/figure">;

export const paperKeys = {
  all: ["papers"] as const,
  detail: (paper: string) => [...paperKeys.all, paper] as const,
  item: (paper: string, item: string) => [...paperKeys.detail(paper), item] as const,
  figure: (paper: string, item: string, query: PaperFigureQuery) =>
    [...paperKeys.item(paper, item), "figure", query] as const,
  preview: (paper: string, item: string, part: PreviewPart) => ["paper-preview", paper, item, part] as const,
  diagram: (paper: string, item: string, diagram: string, run: number | null) =>
    ["diagram", paper, item, diagram, run] as const,
};

const TOPICS = [
  ...ofAny("run.changed", "run.removed", "study.changed", "study.removed"),
  ...ofJobs("evaluation"),
  ...ofJobs("calibration"),
];
const PAPERS = live(TOPICS, SELDOM_SECONDS);

export const papersQuery = apiQuery(paperKeys.all, "/api/v1/papers", {}, PAPERS);

export const paperQuery = (paper: string) =>
  apiQuery(paperKeys.detail(paper), "/api/v1/papers/{paper}", { path: { paper } }, PAPERS);

export const paperItemQuery = (paper: string, item: string) =>
  apiQuery(paperKeys.item(paper, item), "/api/v1/papers/{paper}/{item}", { path: { paper, item } }, PAPERS);

/** Our results over the published ones. */
export const paperFigureQuery = (paper: string, item: string, query: PaperFigureQuery) =>
  apiQuery(
    paperKeys.figure(paper, item, query),
    "/api/v1/papers/{paper}/{item}/figure",
    { path: { paper, item }, query },
    {
      ...live(TOPICS, SELDOM_SECONDS, figureAt(`/papers/${paper}/${item}/figure`, query)),
      placeholderData: keepPreviousData,
    },
  );

const OF_DIAGRAM = ["run.changed", "run.metrics", "run.removed"] as const;

/** Diagram of a method with the numbers of a run, by default the newest. */
export const paperDiagramQuery = (paper: string, item: string, diagram: string, run: number | null) =>
  apiQuery(
    paperKeys.diagram(paper, item, diagram, run),
    "/api/v1/papers/{paper}/{item}/diagrams/{diagram}",
    { path: { paper, item, diagram }, query: { run } },
    {
      // A diagram without a run shows the newest one.
      ...live(run === null ? ofAny(...OF_DIAGRAM) : ofRuns([run], ...OF_DIAGRAM), LIST_SECONDS),
      placeholderData: keepPreviousData,
    },
  );

/** Cost of parts of a table or figure at a share of the paper's budget. */
export const paperPreviewQuery = (paper: string, item: string, part: PreviewPart) =>
  queryOptions({
    queryKey: paperKeys.preview(paper, item, part),
    queryFn: ({ signal }): Promise<PaperPreview> =>
      call("post", "/api/v1/papers/{paper}/{item}/preview", {
        params: { path: { paper, item } },
        body: part,
        signal,
      }),
    retry: false,
  });

/** Start a study for each part. */
export function useStartPaperItem(paper: string, item: string) {
  return useApiMutation(
    (body: StartPart) =>
      call("post", "/api/v1/papers/{paper}/{item}/studies", { params: { path: { paper, item } }, body }),
    {
      onDone: (client) => {
        for (const queryKey of [paperKeys.all, studyKeys.list, runKeys.lists])
          void client.invalidateQueries({ queryKey });
      },
    },
  );
}

/** Launch short runs that measure the training speed of parts. */
export function useMeasurePaperItem(paper: string, item: string) {
  return useApiMutation(
    (parts: string[]) =>
      call("post", "/api/v1/papers/{paper}/{item}/measurements", {
        params: { path: { paper, item } },
        body: { parts },
      }),
    { refetch: [runKeys.lists] },
  );
}
