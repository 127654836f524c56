import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { showsJobs } from "./jobs";
import { OWN_ERRORS } from "./mutationState";
import { runKeys } from "./runs";
import { ofJobs, ofRuns } from "./topics";
import type { Recording, RecordingRequest } from "./types";

export const recordingKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "recordings"] as const,
};

/** The requested recordings of a run, newest first. */
export const recordingsQuery = (run: number) =>
  queryOptions({
    queryKey: recordingKeys.list(run),
    ...showsJobs([...ofRuns([run], "run.files"), ...ofJobs("recording", { run_id: run })]),
    queryFn: ({ signal }): Promise<Recording[]> =>
      call("get", "/api/v1/runs/{run_id}/recordings", { params: { path: { run_id: run } }, signal }),
  });

/** Queue a job that records an episode of a checkpoint. */
export function useRequestRecording(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: RecordingRequest): Promise<Recording> =>
      call("post", "/api/v1/runs/{run_id}/recordings", { params: { path: { run_id: run } }, body }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries({ queryKey: recordingKeys.list(run) }),
  });
}

export function useCancelRecording(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number): Promise<Recording> =>
      call("post", "/api/v1/recordings/{recording_id}/cancel", { params: { path: { recording_id: id } } }),
    // A refusal means that it has already ended.
    onSettled: () => client.invalidateQueries({ queryKey: recordingKeys.list(run) }),
  });
}

/** Delete a recording with its replay. */
export function useDeleteRecording(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/recordings/{recording_id}", { params: { path: { recording_id: id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: runKeys.everythingOf(run) }),
  });
}
