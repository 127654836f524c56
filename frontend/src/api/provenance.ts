import { keepPreviousData } from "@tanstack/react-query";
import { apiQuery } from "./requests";
import { runKeys } from "./runs";

/** Interval of requests until the trainer has reported the provenance. */
const POLL_MILLISECONDS = 2000;

/** Provenance of an attempt of a run, or of the latest recorded one. `latest` is the run's latest attempt. */
export const provenanceQuery = (run: number, latest: number, attempt: number | null, active: boolean) =>
  apiQuery(
    [...runKeys.everythingOf(run), "provenance", { latest, attempt }] as const,
    "/api/v1/runs/{run_id}/provenance",
    { path: { run_id: run }, query: attempt === null ? {} : { attempt } },
    {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        active && attempt === null && !state.data?.attempts.at(-1)?.recorded ? POLL_MILLISECONDS : false,
    },
  );
