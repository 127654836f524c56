import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import { runKeys } from "./runs";
import type { RunProvenance } from "./types";

/** Interval of requests until the trainer has reported the provenance. */
const POLL_MILLISECONDS = 2000;

/** Provenance of an attempt of a run, or of the latest recorded one. `latest` is the run's latest attempt. */
export const provenanceQuery = (run: number, latest: number, attempt: number | null, active: boolean) =>
  queryOptions({
    queryKey: [...runKeys.everythingOf(run), "provenance", { latest, attempt }] as const,
    queryFn: ({ signal }): Promise<RunProvenance> =>
      call("get", "/api/v1/runs/{run_id}/provenance", {
        params: { path: { run_id: run }, query: attempt === null ? {} : { attempt } },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      active && attempt === null && !state.data?.attempts.at(-1)?.recorded ? POLL_MILLISECONDS : false,
  });
