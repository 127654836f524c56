import { infiniteQueryOptions } from "@tanstack/react-query";
import { address, call } from "./client";
import { figureAt, figureAtQuery } from "./figures";
import { gameKeys } from "./games";
import { showsJobs } from "./jobs";
import { apiQuery, useApiMutation } from "./requests";
import { runKeys } from "./runs";
import { live, ofJobs, ofRuns } from "./topics";
import type { EvaluationPage, EvaluationRequest, QueryOf } from "./types";

/** Evaluations per request. */
const PAGE_SIZE = 100;
/** Evaluations per export; the server returns no more. */
const EXPORT_LIMIT = 1000;

export type EvaluationsFigureQuery = Omit<QueryOf<"/api/v1/figures/evaluations">, "runs" | "after">;

export const evaluationKeys = {
  /** All evaluations of a run, with their episodes and figures. */
  ofRun: (run: number) => [...runKeys.everythingOf(run), "evaluations"] as const,
  list: (run: number) => [...evaluationKeys.ofRun(run), "list"] as const,
  detail: (run: number, id: number) => [...evaluationKeys.ofRun(run), id] as const,
  scoresFigure: (run: number, id: number) => [...evaluationKeys.detail(run, id), "figure"] as const,
  choices: (run: number) => [...runKeys.everythingOf(run), "evaluation-choices"] as const,
};

// A checkpoint of a new attempt supersedes evaluations of an earlier one.
const topicsOf = (run: number) => [...ofRuns([run], "run.files"), ...ofJobs("evaluation", { run_id: run })];

/** A run's evaluations without their episodes, newest request first. */
export const evaluationsQuery = (run: number) =>
  infiniteQueryOptions({
    queryKey: evaluationKeys.list(run),
    ...showsJobs(topicsOf(run)),
    queryFn: ({ pageParam, signal }): Promise<EvaluationPage> =>
      call("get", "/api/v1/runs/{run_id}/evaluations", {
        params: { path: { run_id: run }, query: { limit: PAGE_SIZE, cursor: pageParam } },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });

/** Fetch a run's evaluations for a CSV export. */
export const fetchEvaluations = (run: number): Promise<EvaluationPage> =>
  call("get", "/api/v1/runs/{run_id}/evaluations", {
    params: { path: { run_id: run }, query: { limit: EXPORT_LIMIT } },
  });

export const evaluationQuery = (run: number, id: number) =>
  apiQuery(
    evaluationKeys.detail(run, id),
    "/api/v1/evaluations/{evaluation_id}",
    { path: { evaluation_id: id } },
    showsJobs(topicsOf(run)),
  );

/** Histogram of an evaluation's scores. */
export const scoresFigureQuery = (run: number, id: number) =>
  apiQuery(
    evaluationKeys.scoresFigure(run, id),
    "/api/v1/figures/evaluation-scores",
    { query: { evaluation: id } },
    live(topicsOf(run), 0, figureAt("/figures/evaluation-scores", { evaluation: id })),
  );

/** Scores of a run's evaluations over its training. */
export const evaluationsFigureQuery = (run: number, query: EvaluationsFigureQuery) =>
  figureAtQuery(address("/figures/evaluations", { runs: run, ...query }), [run]);

/** The options for evaluating a run. Always fetched again, because start sets change. */
export const evaluationChoicesQuery = (run: number) =>
  apiQuery(
    evaluationKeys.choices(run),
    "/api/v1/runs/{run_id}/evaluation-choices",
    { path: { run_id: run } },
    { staleTime: 0 },
  );

/**
 * Queue a job that evaluates a checkpoint of a run. It stays pending until the list shows the evaluation. A refusal can
 * mean that another user requested the same one.
 */
export function useRequestEvaluation(run: number) {
  return useApiMutation(
    (body: EvaluationRequest) =>
      call("post", "/api/v1/runs/{run_id}/evaluations", { params: { path: { run_id: run } }, body }),
    { ownErrors: true, refetch: [evaluationKeys.ofRun(run), gameKeys.all], refetchOnError: true },
  );
}
