import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery } from "./requests";
import { figureAt } from "./figures";
import { followStudy, studyKeys } from "./studies";
import type { StudySpecification, SuiteRequest } from "./types";

export const suiteKeys = {
  lists: ["suites"] as const,
  specification: (request: SuiteRequest) => [...suiteKeys.lists, "specification", request] as const,
  aggregates: (study: number) => [...studyKeys.detail(study), "aggregates"] as const,
  figure: (study: number) => [...suiteKeys.aggregates(study), "figure"] as const,
};

/** Lists of games that suites can run over. */
export const gameListsQuery = apiQuery(suiteKeys.lists, "/api/v1/suites", {}, { staleTime: Infinity });

/** The study of a suite. Fails if its games, preset or protocol do not fit. */
export const suiteSpecificationQuery = (request: SuiteRequest) =>
  queryOptions({
    queryKey: suiteKeys.specification(request),
    queryFn: ({ signal }): Promise<StudySpecification> =>
      call("post", "/api/v1/suites/specification", { body: request, signal }),
    retry: false,
  });

/** Scores of a study over its games, with statistics. */
export const aggregatesQuery = (study: number) =>
  apiQuery(
    suiteKeys.aggregates(study),
    "/api/v1/studies/{study_id}/aggregates",
    { path: { study_id: study } },
    followStudy(study),
  );

/** The statistics as a figure. */
export const aggregatesFigureQuery = (study: number) =>
  apiQuery(
    suiteKeys.figure(study),
    "/api/v1/studies/{study_id}/aggregates/figure",
    { path: { study_id: study } },
    followStudy(study, figureAt(`/studies/${study}/aggregates/figure`, {})),
  );
