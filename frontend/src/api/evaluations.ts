import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { address, call } from "./client";
import { figureAt, figureAtQuery } from "./figures";
import { gameKeys } from "./games";
import { showsJobs } from "./jobs";
import { OWN_ERRORS } from "./mutationState";
import { runKeys } from "./runs";
import { live, ofJobs, ofRuns } from "./topics";
import type {
  EvaluationChoices,
  EvaluationPage,
  EvaluationRequest,
  EvaluationWithEpisodes,
  Figure,
  QueryOf,
} from "./types";

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
  queryOptions({
    queryKey: evaluationKeys.detail(run, id),
    ...showsJobs(topicsOf(run)),
    queryFn: ({ signal }): Promise<EvaluationWithEpisodes> =>
      call("get", "/api/v1/evaluations/{evaluation_id}", {
        params: { path: { evaluation_id: id } },
        signal,
      }),
  });

/** Histogram of an evaluation's scores. */
export const scoresFigureQuery = (run: number, id: number) =>
  queryOptions({
    queryKey: evaluationKeys.scoresFigure(run, id),
    ...live(topicsOf(run), 0, figureAt("/figures/evaluation-scores", { evaluation: id })),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/figures/evaluation-scores", { params: { query: { evaluation: id } }, signal }),
  });

/** Scores of a run's evaluations over its training. */
export const evaluationsFigureQuery = (run: number, query: EvaluationsFigureQuery) =>
  figureAtQuery(address("/figures/evaluations", { runs: run, ...query }), [run]);

/** The options for evaluating a run. Always fetched again, because start sets change. */
export const evaluationChoicesQuery = (run: number) =>
  queryOptions({
    queryKey: evaluationKeys.choices(run),
    queryFn: ({ signal }): Promise<EvaluationChoices> =>
      call("get", "/api/v1/runs/{run_id}/evaluation-choices", {
        params: { path: { run_id: run } },
        signal,
      }),
    staleTime: 0,
  });

/** Queue a job that evaluates a checkpoint of a run. */
export function useRequestEvaluation(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: EvaluationRequest): Promise<EvaluationWithEpisodes> =>
      call("post", "/api/v1/runs/{run_id}/evaluations", { params: { path: { run_id: run } }, body }),
    meta: OWN_ERRORS,
    // Stay pending until the list shows the evaluation. A refusal can mean that another user requested the same one.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: evaluationKeys.ofRun(run) }),
        client.invalidateQueries({ queryKey: gameKeys.all }),
      ]),
  });
}

export function useCancelEvaluation(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number): Promise<EvaluationWithEpisodes> =>
      call("post", "/api/v1/evaluations/{evaluation_id}/cancel", { params: { path: { evaluation_id: id } } }),
    // A refusal means that it has already ended.
    onSettled: () => client.invalidateQueries({ queryKey: evaluationKeys.ofRun(run) }),
  });
}

/** Delete an evaluation with its scores. `onDeleted` is called even if the user has left the page. */
export function useDeleteEvaluation(run: number, onDeleted: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/evaluations/{evaluation_id}", { params: { path: { evaluation_id: id } } }),
    onSuccess: (_, id) => {
      onDeleted();
      client.removeQueries({ queryKey: evaluationKeys.detail(run, id) });
      return client.invalidateQueries({ queryKey: evaluationKeys.ofRun(run) });
    },
  });
}
