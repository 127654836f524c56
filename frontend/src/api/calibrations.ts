import { address, call } from "./client";
import { figureAt, figureAtQuery } from "./figures";
import { showsJobs } from "./jobs";
import { apiQuery, useApiMutation } from "./requests";
import { runKeys } from "./runs";
import { live, ofJobs, ofRuns } from "./topics";
import type { CalibrationRequest, QueryOf } from "./types";

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
  apiQuery(
    calibrationKeys.list(run),
    "/api/v1/runs/{run_id}/calibrations",
    { path: { run_id: run } },
    showsJobs(topicsOf(run)),
  );

export const calibrationQuery = (run: number, id: number) =>
  apiQuery(
    calibrationKeys.detail(run, id),
    "/api/v1/calibrations/{calibration_id}",
    { path: { calibration_id: id } },
    showsJobs(topicsOf(run)),
  );

/** Returns of futures against the values of a critic. */
export const calibrationFigureQuery = (run: number, id: number) =>
  apiQuery(
    calibrationKeys.figure(run, id),
    "/api/v1/figures/calibration",
    { query: { calibration: id } },
    live(topicsOf(run), 0, figureAt("/figures/calibration", { calibration: id })),
  );

/** A measure of the critics of some runs over training. */
export const calibrationsFigureQuery = (runs: readonly number[], query: CalibrationsFigureQuery) =>
  figureAtQuery(address("/figures/calibrations", { runs: runs.join(","), ...query }), runs);

/** Queue a job that compares the critic of a checkpoint with futures. It stays pending until the list shows it. */
export function useRequestCalibration(run: number) {
  return useApiMutation(
    (body: CalibrationRequest) =>
      call("post", "/api/v1/runs/{run_id}/calibrations", { params: { path: { run_id: run } }, body }),
    { ownErrors: true, refetch: [calibrationKeys.ofRun(run)], refetchOnError: true },
  );
}
