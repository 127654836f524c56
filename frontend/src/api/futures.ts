import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { showsJobs } from "./jobs";
import { OWN_ERRORS } from "./mutationState";
import { replayKeys } from "./replays";
import { ofJobs, ofRuns } from "./topics";
import type { Futures, FuturesRequest, FuturesSummary, Replay } from "./types";

type OfReplay = Pick<Replay, "id" | "run_id">;

export const futuresKeys = {
  /** The futures of a replay without their results. Fetched again with the run's replays. */
  list: ({ run_id, id }: OfReplay) => [...replayKeys.list(run_id), id, "futures"] as const,
  result: (id: number) => ["futures", id] as const,
};

/** The futures of a replay, newest first. */
export const futuresQuery = (replay: OfReplay) =>
  queryOptions({
    queryKey: futuresKeys.list(replay),
    // They may be simulated by the agent of another run.
    ...showsJobs([...ofRuns([replay.run_id], "run.files"), ...ofJobs("futures")]),
    queryFn: ({ signal }): Promise<FuturesSummary[]> =>
      call("get", "/api/v1/replays/{replay_id}/futures", {
        params: { path: { replay_id: replay.id } },
        signal,
      }),
  });

/** Finished futures with their result, which never changes. */
export const futuresResultQuery = (id: number) =>
  queryOptions({
    queryKey: futuresKeys.result(id),
    queryFn: ({ signal }): Promise<Futures> =>
      call("get", "/api/v1/futures/{futures_id}", { params: { path: { futures_id: id } }, signal }),
    staleTime: Infinity,
  });

/** Queue a job that simulates the futures of a decision. */
export function useRequestFutures(replay: OfReplay) {
  const client = useQueryClient();
  return useMutation({
    meta: OWN_ERRORS,
    mutationFn: (body: FuturesRequest): Promise<Futures> =>
      call("post", "/api/v1/replays/{replay_id}/futures", {
        params: { path: { replay_id: replay.id } },
        body,
      }),
    // Stay pending until the list shows them.
    onSuccess: () => client.invalidateQueries({ queryKey: futuresKeys.list(replay) }),
  });
}

/** Delete futures, or cancel their simulation. */
export function useDeleteFutures(replay: OfReplay) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/futures/{futures_id}", { params: { path: { futures_id: id } } }),
    onSettled: () => client.invalidateQueries({ queryKey: futuresKeys.list(replay) }),
  });
}
