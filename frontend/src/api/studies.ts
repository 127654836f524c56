import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { figureAt } from "./figureAddress";
import type {
  Figure,
  Paper,
  PaperDiagram,
  PaperItem,
  PaperPreview,
  QueryOf,
  PreviewPart,
  Study,
  StudyPage,
  StudyPreview,
  StudySpecification,
} from "./types";

export const studiesQuery = infiniteQueryOptions({
  queryKey: ["studies", "list"],
  queryFn: ({ pageParam, signal }): Promise<StudyPage> =>
    call("get", "/api/v1/studies", { query: { before: pageParam }, signal }),
  initialPageParam: null as number | null,
  getNextPageParam: (last) => last.next_cursor,
});

export const studyQuery = (id: number) =>
  queryOptions({
    queryKey: ["studies", id],
    queryFn: ({ signal }): Promise<Study> =>
      call("get", "/api/v1/studies/{study_id}", { path: { study_id: id }, signal }),
  });

export type StudyFigureQuery = QueryOf<"/api/v1/studies/{study_id}/figure">;

/** What the points of a study have come to. */
export const studyFigureQuery = (id: number, query: StudyFigureQuery) =>
  queryOptions({
    queryKey: ["studies", id, "figure", query],
    meta: figureAt(`/studies/${id}/figure`, query),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/studies/{study_id}/figure", { path: { study_id: id }, query, signal }),
    placeholderData: keepPreviousData,
  });

/** What a study would be; refused where it cannot be made. */
export const studyPreviewQuery = (body: StudySpecification) =>
  queryOptions({
    queryKey: ["study-preview", body],
    queryFn: ({ signal }): Promise<StudyPreview> => call("post", "/api/v1/studies/preview", { body, signal }),
    retry: false,
  });

export const papersQuery = queryOptions({
  queryKey: ["papers"],
  queryFn: ({ signal }): Promise<Paper[]> => call("get", "/api/v1/papers", { signal }),
});

export const paperQuery = (paper: string) =>
  queryOptions({
    queryKey: ["papers", paper],
    queryFn: ({ signal }): Promise<Paper> =>
      call("get", "/api/v1/papers/{paper}", { path: { paper }, signal }),
  });

export const paperItemQuery = (paper: string, item: string) =>
  queryOptions({
    queryKey: ["papers", paper, item],
    queryFn: ({ signal }): Promise<PaperItem> =>
      call("get", "/api/v1/papers/{paper}/{item}", { path: { paper, item }, signal }),
  });

export type PaperFigureQuery = QueryOf<"/api/v1/papers/{paper}/{item}/figure">;

/** Ours over theirs. */
export const paperFigureQuery = (paper: string, item: string, query: PaperFigureQuery) =>
  queryOptions({
    queryKey: ["papers", paper, item, "figure", query],
    meta: figureAt(`/papers/${paper}/${item}/figure`, query),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/papers/{paper}/{item}/figure", { path: { paper, item }, query, signal }),
    placeholderData: keepPreviousData,
  });

/** How a method is built here, with the numbers of a run; of the newest without one. */
export const paperDiagramQuery = (paper: string, item: string, diagram: string, run: number | null) =>
  queryOptions({
    queryKey: ["diagram", paper, item, diagram, run],
    queryFn: ({ signal }): Promise<PaperDiagram> =>
      call("get", "/api/v1/papers/{paper}/{item}/diagrams/{diagram}", {
        path: { paper, item, diagram },
        query: { run },
        signal,
      }),
    placeholderData: keepPreviousData,
  });

/** What parts of a table or figure would take at a share of their budget. */
export const paperPreviewQuery = (paper: string, item: string, body: PreviewPart) =>
  queryOptions({
    queryKey: ["paper-preview", paper, item, body],
    queryFn: ({ signal }): Promise<PaperPreview> =>
      call("post", "/api/v1/papers/{paper}/{item}/preview", { path: { paper, item }, body, signal }),
    retry: false,
  });
