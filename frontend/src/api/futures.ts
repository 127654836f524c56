import { call } from "./client";
import { showsJobs } from "./jobs";
import { apiQuery, useApiMutation } from "./requests";
import { replayKeys } from "./replays";
import { ofJobs, ofRuns } from "./topics";
import type { FuturesRequest, Replay } from "./types";

type OfReplay = Pick<Replay, "id" | "run_id">;

export const futuresKeys = {
  /** The futures of a replay without their results. Fetched again with the run's replays. */
  list: ({ run_id, id }: OfReplay) => [...replayKeys.list(run_id), id, "futures"] as const,
  result: (id: number) => ["futures", id] as const,
};

/** The futures of a replay, newest first. They may be simulated by the agent of another run. */
export const futuresQuery = (replay: OfReplay) =>
  apiQuery(
    futuresKeys.list(replay),
    "/api/v1/replays/{replay_id}/futures",
    { path: { replay_id: replay.id } },
    showsJobs([...ofRuns([replay.run_id], "run.files"), ...ofJobs("futures")]),
  );

/** Finished futures with their result, which never changes. */
export const futuresResultQuery = (id: number) =>
  apiQuery(
    futuresKeys.result(id),
    "/api/v1/futures/{futures_id}",
    { path: { futures_id: id } },
    { staleTime: Infinity },
  );

/** Queue a job that simulates the futures of a decision. It stays pending until the list shows them. */
export function useRequestFutures(replay: OfReplay) {
  return useApiMutation(
    (body: FuturesRequest) =>
      call("post", "/api/v1/replays/{replay_id}/futures", {
        params: { path: { replay_id: replay.id } },
        body,
      }),
    { ownErrors: true, refetch: [futuresKeys.list(replay)] },
  );
}
