import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { figureAt } from "./figures";
import { byProject } from "./projectFilter";
import { runKeys } from "./runs";
import { LIST_SECONDS, live, ofAny, ofJobs, ofRuns, type Topic } from "./topics";
import type {
  ExtendStudy,
  QueryOf,
  StartStudy,
  Study,
  StudyPage,
  StudyPreview,
  StudySpecification,
} from "./types";

export type StudyAction = "pause" | "resume" | "stop";
export type StudyFigureQuery = QueryOf<"/api/v1/studies/{study_id}/figure">;

export const studyKeys = {
  all: ["studies"] as const,
  list: ["studies", "list"] as const,
  listOf: (project: string | null) => [...studyKeys.list, { project }] as const,
  detail: (id: number) => [...studyKeys.all, id] as const,
  figure: (id: number, query: StudyFigureQuery) => [...studyKeys.detail(id), "figure", query] as const,
  preview: (specification: StudySpecification) => ["study-preview", specification] as const,
};

const OF_RUNS = ["run.changed", "run.metrics", "run.removed"] as const;
const TOPICS: Topic[] = [
  ...ofAny("study.changed", "study.removed", "projects.changed"),
  // Evaluations are part of a study's statistics over its games.
  ...ofJobs("evaluation"),
];

/** Options of a query of a study. New runs of a study are announced as a change of it. */
export const followStudy = (id: number, meta?: object) =>
  live(
    (client) => {
      const study = client.getQueryData<Study>(studyKeys.detail(id));
      const runs = study?.table.flatMap((point) => point.runs.flatMap(({ run_id }) => run_id ?? []));
      return [...TOPICS, ...(runs ? ofRuns(runs, ...OF_RUNS) : ofAny(...OF_RUNS))];
    },
    LIST_SECONDS,
    meta,
  );

/** Studies of a project, or of all. */
export const studiesQuery = (project: string | null = null) =>
  infiniteQueryOptions({
    queryKey: studyKeys.listOf(project),
    ...live([...TOPICS, ...ofAny(...OF_RUNS)], LIST_SECONDS),
    queryFn: ({ pageParam, signal }): Promise<StudyPage> =>
      call("get", "/api/v1/studies", {
        params: { query: { before: pageParam, ...byProject(project) } },
        signal,
      }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next_cursor,
  });

export const studyQuery = (id: number) =>
  apiQuery(studyKeys.detail(id), "/api/v1/studies/{study_id}", { path: { study_id: id } }, followStudy(id));

/** Results of a study's points. */
export const studyFigureQuery = (id: number, query: StudyFigureQuery) =>
  apiQuery(
    studyKeys.figure(id, query),
    "/api/v1/studies/{study_id}/figure",
    { path: { study_id: id }, query },
    { ...followStudy(id, figureAt(`/studies/${id}/figure`, query)), placeholderData: keepPreviousData },
  );

/** The runs and cost of a study that is not started yet. Fails if the specification is invalid. */
export const studyPreviewQuery = (specification: StudySpecification) =>
  queryOptions({
    queryKey: studyKeys.preview(specification),
    queryFn: ({ signal }): Promise<StudyPreview> =>
      call("post", "/api/v1/studies/preview", { body: specification, signal }),
    retry: false,
  });

function settle(client: QueryClient, study: Study): void {
  client.setQueryData(studyKeys.detail(study.id), study);
  void client.invalidateQueries({ queryKey: studyKeys.list });
  void client.invalidateQueries({ queryKey: runKeys.lists });
}

export function useStartStudy() {
  return useApiMutation((body: StartStudy): Promise<Study> => call("post", "/api/v1/studies", { body }), {
    ownErrors: true,
    onDone: settle,
  });
}

export function useStudyAction(id: number) {
  return useApiMutation(
    (action: StudyAction): Promise<Study> =>
      call("post", `/api/v1/studies/{study_id}/${action}`, { params: { path: { study_id: id } } }),
    { ownErrors: true, onDone: settle },
  );
}

/** Add seeds to points, or add points. */
export function useExtendStudy(id: number) {
  return useApiMutation(
    (body: ExtendStudy): Promise<Study> =>
      call("post", "/api/v1/studies/{study_id}/extend", { params: { path: { study_id: id } }, body }),
    { onDone: settle },
  );
}

/** Delete a study. Its runs stay. */
export function useDeleteStudy(id: number) {
  return useApiMutation(
    () => call("delete", "/api/v1/studies/{study_id}", { params: { path: { study_id: id } } }),
    { refetch: [studyKeys.list] },
  );
}
