import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { figureAt } from "./figures";
import { runKeys } from "./runs";
import { studyKeys } from "./studies";
import type {
  Figure,
  Paper,
  PaperDiagram,
  PaperItem,
  PaperMeasurement,
  PaperPreview,
  PaperStudy,
  PreviewPart,
  QueryOf,
  StartPart,
} from "./types";

export type PaperFigureQuery = QueryOf<"/api/v1/papers/{paper}/{item}/figure">;

export const paperKeys = {
  all: ["papers"] as const,
  detail: (paper: string) => [...paperKeys.all, paper] as const,
  item: (paper: string, item: string) => [...paperKeys.detail(paper), item] as const,
  figure: (paper: string, item: string, query: PaperFigureQuery) =>
    [...paperKeys.item(paper, item), "figure", query] as const,
  preview: (paper: string, item: string, part: PreviewPart) => ["paper-preview", paper, item, part] as const,
  allDiagrams: ["diagram"] as const,
  diagram: (paper: string, item: string, diagram: string, run: number | null) =>
    [...paperKeys.allDiagrams, paper, item, diagram, run] as const,
};

export const papersQuery = queryOptions({
  queryKey: paperKeys.all,
  queryFn: ({ signal }): Promise<Paper[]> => call("get", "/api/v1/papers", { signal }),
});

export const paperQuery = (paper: string) =>
  queryOptions({
    queryKey: paperKeys.detail(paper),
    queryFn: ({ signal }): Promise<Paper> =>
      call("get", "/api/v1/papers/{paper}", { params: { path: { paper } }, signal }),
  });

export const paperItemQuery = (paper: string, item: string) =>
  queryOptions({
    queryKey: paperKeys.item(paper, item),
    queryFn: ({ signal }): Promise<PaperItem> =>
      call("get", "/api/v1/papers/{paper}/{item}", { params: { path: { paper, item } }, signal }),
  });

/** Our results over the published ones. */
export const paperFigureQuery = (paper: string, item: string, query: PaperFigureQuery) =>
  queryOptions({
    queryKey: paperKeys.figure(paper, item, query),
    meta: figureAt(`/papers/${paper}/${item}/figure`, query),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/papers/{paper}/{item}/figure", {
        params: { path: { paper, item }, query },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** Diagram of a method with the numbers of a run, by default the newest. */
export const paperDiagramQuery = (paper: string, item: string, diagram: string, run: number | null) =>
  queryOptions({
    queryKey: paperKeys.diagram(paper, item, diagram, run),
    queryFn: ({ signal }): Promise<PaperDiagram> =>
      call("get", "/api/v1/papers/{paper}/{item}/diagrams/{diagram}", {
        params: { path: { paper, item, diagram }, query: { run } },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

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
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: StartPart): Promise<PaperStudy[]> =>
      call("post", "/api/v1/papers/{paper}/{item}/studies", { params: { path: { paper, item } }, body }),
    onSuccess: () => {
      for (const queryKey of [paperKeys.all, studyKeys.list, runKeys.lists])
        void client.invalidateQueries({ queryKey });
    },
  });
}

/** Launch short runs that measure the training speed of parts. */
export function useMeasurePaperItem(paper: string, item: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (parts: string[]): Promise<PaperMeasurement[]> =>
      call("post", "/api/v1/papers/{paper}/{item}/measurements", {
        params: { path: { paper, item } },
        body: { parts },
      }),
    onSuccess: () => void client.invalidateQueries({ queryKey: runKeys.lists }),
  });
}
