import { keepPreviousData } from "@tanstack/react-query";
import { apiQuery } from "./requests";
import { runKeys } from "./runs";
import { LIST_SECONDS, live, ofRuns } from "./topics";

/** Provenance of an attempt of a run, or of the latest recorded one. */
export const provenanceQuery = (run: number, attempt: number | null) =>
  apiQuery(
    [...runKeys.everythingOf(run), "provenance", { attempt }] as const,
    "/api/v1/runs/{run_id}/provenance",
    { path: { run_id: run }, query: attempt === null ? {} : { attempt } },
    { ...live(ofRuns([run], "run.changed"), LIST_SECONDS), placeholderData: keepPreviousData },
  );
