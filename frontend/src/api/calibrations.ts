import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { address, call } from "./client";
import { figureAt, figureAtQuery } from "./figures";
import { showsJobs } from "./jobs";
import { OWN_ERRORS } from "./mutationState";
import { runKeys } from "./runs";
import { live, ofJobs, ofRuns } from "./topics";
import type { Calibration, CalibrationRequest, CalibrationWithDocument, Figure, QueryOf } from "./types";

export type CalibrationsFigureQuery = Omit<QueryOf<"/api/v1/figures/calibrations">, "runs" | "after">;
export type CriticMeasure = NonNullable<CalibrationsFigureQuery["measure"]>;

export const calibrationKeys = {
  /** All calibrations of a run, with their documents and figures. */
  ofRun: (run: number) => [...runKeys.everythingOf(run), "calibrations"] as const,
  list: (run: number) => [...calibrationKeys.ofRun(run), "list"] as const,
  detail: (run: number, id: number) => [...calibrationKeys.ofRun(run), id] as const,
  figure: (run: number, id: number) => [...calibrationKeys.detail(run, id), "figure"] as const,
};

// A checkpoint of a new attempt supersedes calibrations of an earlier one.
const topicsOf = (run: number) => [...ofRuns([run], "run.files"), ...ofJobs("calibration", { run_id: run })];

/** A run's calibrations without their judged decisions, newest first. */
export const calibrationsQuery = (run: number) =>
  queryOptions({
    queryKey: calibrationKeys.list(run),
    ...showsJobs(topicsOf(run)),
    queryFn: ({ signal }): Promise<Calibration[]> =>
      call("get", "/api/v1/runs/{run_id}/calibrations", { params: { path: { run_id: run } }, signal }),
  });

export const calibrationQuery = (run: number, id: number) =>
  queryOptions({
    queryKey: calibrationKeys.detail(run, id),
    ...showsJobs(topicsOf(run)),
    queryFn: ({ signal }): Promise<CalibrationWithDocument> =>
      call("get", "/api/v1/calibrations/{calibration_id}", {
        params: { path: { calibration_id: id } },
        signal,
      }),
  });

/** Returns of futures against the values of a critic. */
export const calibrationFigureQuery = (run: number, id: number) =>
  queryOptions({
    queryKey: calibrationKeys.figure(run, id),
    ...live(topicsOf(run), 0, figureAt("/figures/calibration", { calibration: id })),
    queryFn: ({ signal }): Promise<Figure> =>
      call("get", "/api/v1/figures/calibration", { params: { query: { calibration: id } }, signal }),
  });

/** A measure of the critics of some runs over training. */
export const calibrationsFigureQuery = (runs: readonly number[], query: CalibrationsFigureQuery) =>
  figureAtQuery(address("/figures/calibrations", { runs: runs.join(","), ...query }), runs);

/** Queue a job that compares the critic of a checkpoint with futures. */
export function useRequestCalibration(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: CalibrationRequest): Promise<CalibrationWithDocument> =>
      call("post", "/api/v1/runs/{run_id}/calibrations", { params: { path: { run_id: run } }, body }),
    meta: OWN_ERRORS,
    // Stay pending until the list shows it.
    onSettled: () => client.invalidateQueries({ queryKey: calibrationKeys.ofRun(run) }),
  });
}

export function useCancelCalibration(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number): Promise<CalibrationWithDocument> =>
      call("post", "/api/v1/calibrations/{calibration_id}/cancel", {
        params: { path: { calibration_id: id } },
      }),
    // A refusal means that it has already ended.
    onSettled: () => client.invalidateQueries({ queryKey: calibrationKeys.ofRun(run) }),
  });
}

/** Delete a calibration. `onDeleted` is called even if the user has left the page. */
export function useDeleteCalibration(run: number, onDeleted: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/calibrations/{calibration_id}", { params: { path: { calibration_id: id } } }),
    onSuccess: (_, id) => {
      onDeleted();
      client.removeQueries({ queryKey: calibrationKeys.detail(run, id) });
      return client.invalidateQueries({ queryKey: calibrationKeys.ofRun(run) });
    },
  });
}
