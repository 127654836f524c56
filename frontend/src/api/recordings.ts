import { call } from "./client";
import { showsJobs } from "./jobs";
import { apiQuery, useApiMutation } from "./requests";
import { runKeys } from "./runs";
import { ofJobs, ofRuns } from "./topics";
import type { RecordingRequest } from "./types";

export const recordingKeys = {
  list: (run: number) => [...runKeys.everythingOf(run), "recordings"] as const,
};

/** The requested recordings of a run, newest first. */
export const recordingsQuery = (run: number) =>
  apiQuery(
    recordingKeys.list(run),
    "/api/v1/runs/{run_id}/recordings",
    { path: { run_id: run } },
    showsJobs([...ofRuns([run], "run.files"), ...ofJobs("recording", { run_id: run })]),
  );

/** Queue a job that records an episode of a checkpoint. */
export function useRequestRecording(run: number) {
  return useApiMutation(
    (body: RecordingRequest) =>
      call("post", "/api/v1/runs/{run_id}/recordings", { params: { path: { run_id: run } }, body }),
    { ownErrors: true, refetch: [recordingKeys.list(run)] },
  );
}
