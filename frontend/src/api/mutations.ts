import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { patchRun } from "./live/patch";
import type {
  BulkAction,
  BulkResult,
  EvaluationRequest,
  EvaluationWithEpisodes,
  ExtendStudy,
  LiveGame,
  PlayedGame,
  Recording,
  RecordingRequest,
  LaunchRequest,
  Run,
  RunConfig,
  RunEdit,
  Saliency,
  StartSet,
  StartSetFile,
  PaperMeasurement,
  PaperStudy,
  StartPart,
  StartStudy,
  Study,
  Replay,
} from "./types";

export type RunAction = "stop" | "pause" | "resume" | "archive" | "restore";

/** Whether a press was taken: what asked still stands while the code of the page that follows is on its way. */
export const isTaken = ({ isPending, isSuccess }: { isPending: boolean; isSuccess: boolean }) =>
  isPending || isSuccess;

/** The form that asked shows what was wrong, beside its fields. */
const OWN_ERRORS = { ownErrors: true };

function settle(client: QueryClient, run: Run): void {
  patchRun(client, run);
  void client.invalidateQueries({ queryKey: ["runs"] });
}

/** POST /runs; the answer is the new run. */
export function useLaunchRun() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: LaunchRequest): Promise<Run> => call("post", "/api/v1/runs", { body }),
    meta: OWN_ERRORS,
    onSuccess: (run) => settle(client, run),
  });
}

export function useRunAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, action }: { id: number; action: RunAction }): Promise<Run> =>
      call("post", `/api/v1/runs/{run_id}/${action}`, { path: { run_id: id } }),
    meta: OWN_ERRORS,
    onSuccess: (run) => settle(client, run),
  });
}

/** Send an action from a page that is being left: nobody is there to read the answer. */
export function sendOnLeaving(id: number, action: RunAction): void {
  call("post", `/api/v1/runs/{run_id}/${action}`, { path: { run_id: id }, keepalive: true }).catch(
    () => undefined,
  );
}

/**
 * PATCH /runs/{id}, one edit after another, so that the server takes them in the order they were made. `onSaved` is
 * called though the page be left.
 */
export function useEditRun(id: number, onSaved?: (edit: RunEdit) => void) {
  const client = useQueryClient();
  return useMutation({
    scope: { id: `edit-run-${id}` },
    mutationFn: (body: RunEdit): Promise<Run> =>
      call("patch", "/api/v1/runs/{run_id}", { path: { run_id: id }, body }),
    onSuccess: (run, edit) => {
      onSaved?.(edit);
      return settle(client, run);
    },
  });
}

export function useCloneRun() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: { id: number; name?: string; overrides?: RunConfig }): Promise<Run> =>
      call("post", "/api/v1/runs/{run_id}/clone", { path: { run_id: id }, body }),
    onSuccess: (run) => settle(client, run),
  });
}

interface Fork {
  id: number;
  checkpoint_id: number;
  name?: string;
  overrides?: RunConfig;
}

export function useForkRun() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: Fork): Promise<Run> =>
      call("post", "/api/v1/runs/{run_id}/fork", { path: { run_id: id }, body }),
    meta: OWN_ERRORS,
    onSuccess: (run) => settle(client, run),
  });
}

/** A pinned checkpoint is never thinned out. */
export function usePinCheckpoint(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ checkpoint, pinned }: { checkpoint: number; pinned: boolean }) =>
      call("patch", "/api/v1/runs/{run_id}/checkpoints/{checkpoint_id}", {
        path: { run_id: id, checkpoint_id: checkpoint },
        body: { pinned },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["run", id, "checkpoints"] }),
  });
}

/** Have a worker evaluate a checkpoint of a run. */
export function useAskEvaluation(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: EvaluationRequest): Promise<EvaluationWithEpisodes> =>
      call("post", "/api/v1/runs/{run_id}/evaluations", { path: { run_id: run }, body }),
    meta: OWN_ERRORS,
    // Pending until the page that asked shows the answer; also when it is refused: somebody else has asked meanwhile.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["run", run, "evaluations"] }),
        client.invalidateQueries({ queryKey: ["games"] }),
      ]),
  });
}

export function useCancelEvaluation(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number): Promise<EvaluationWithEpisodes> =>
      call("post", "/api/v1/evaluations/{evaluation_id}/cancel", { path: { evaluation_id: id } }),
    // Also when it is refused: it has ended meanwhile.
    onSettled: () => client.invalidateQueries({ queryKey: ["run", run, "evaluations"] }),
  });
}

/** DELETE /evaluations/{id}: its scores are gone, and it may have been the best. `onRemoved` is called though its page be left. */
export function useRemoveEvaluation(run: number, onRemoved: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/evaluations/{evaluation_id}", { path: { evaluation_id: id } }),
    onSuccess: (_, id) => {
      onRemoved();
      client.removeQueries({ queryKey: ["run", run, "evaluations", id] });
      return client.invalidateQueries({ queryKey: ["run", run, "evaluations"] });
    },
  });
}

/** POST /start-sets: store a set of start points under a name. */
export function useImportStarts() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, points }: { name: string; points: StartSetFile }): Promise<StartSet> =>
      call("post", "/api/v1/start-sets", { query: { name }, body: points }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries({ queryKey: ["start-sets"] }),
  });
}

/** DELETE /start-sets/{id}: scores of evaluations that began there stay. */
export function useRemoveStarts() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/start-sets/{start_set_id}", { path: { start_set_id: id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["start-sets"] }),
  });
}

/** Store points spread over a kept game as human-starts. */
export function useKeepStarts() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, name }: { id: number; name: string }): Promise<StartSet> =>
      call("post", "/api/v1/kept-games/{kept_id}/start-points", { path: { kept_id: id }, query: { name } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["start-sets"] }),
  });
}

export function useRemoveKept() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => call("delete", "/api/v1/kept-games/{kept_id}", { path: { kept_id: id } }),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["play", "kept"] }),
        client.invalidateQueries({ queryKey: ["games"] }),
      ]),
  });
}

/** Begin a live game of a run's agent, or join the one that others watch. */
export function useWatchLive(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (checkpoint: number | "newest"): Promise<LiveGame> =>
      call("post", "/api/v1/runs/{run_id}/live", { path: { run_id: run }, body: { checkpoint } }),
    meta: OWN_ERRORS,
    onSuccess: (game) => client.setQueryData(["run", run, "live", game.id], game),
  });
}

/** Begin a game that people play. */
export function usePlay(slug: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (): Promise<PlayedGame> => call("post", "/api/v1/games/{slug}/play", { path: { slug } }),
    meta: OWN_ERRORS,
    onSuccess: (game) => client.setQueryData(["play", slug, game.id], game),
  });
}

/** Have a worker record an episode of a checkpoint. */
export function useAskRecording(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: RecordingRequest): Promise<Recording> =>
      call("post", "/api/v1/runs/{run_id}/recordings", { path: { run_id: run }, body }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries({ queryKey: ["run", run, "recordings"] }),
  });
}

export function useCancelRecording(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number): Promise<Recording> =>
      call("post", "/api/v1/recordings/{recording_id}/cancel", { path: { recording_id: id } }),
    // Also when it is refused: it has ended meanwhile.
    onSettled: () => client.invalidateQueries({ queryKey: ["run", run, "recordings"] }),
  });
}

/** DELETE /recordings/{id}: its replay is gone with it. */
export function useRemoveRecording(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call("delete", "/api/v1/recordings/{recording_id}", { path: { recording_id: id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["run", run] }),
  });
}

/** Have a worker compute the saliency of a replay. */
export function useAskSaliency(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (replay: number): Promise<Saliency> =>
      call("post", "/api/v1/replays/{replay_id}/saliency", { path: { replay_id: replay } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["run", run, "replays"] }),
  });
}

/** DELETE /replays/{id}/saliency: it is gone, or its computation ends. */
export function useRemoveSaliency(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (replay: number) =>
      call("delete", "/api/v1/replays/{replay_id}/saliency", { path: { replay_id: replay } }),
    onSettled: () => client.invalidateQueries({ queryKey: ["run", run, "replays"] }),
  });
}

/** A pinned replay is never thinned out. */
export function usePinReplay(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ replay, pinned }: { replay: number; pinned: boolean }): Promise<Replay> =>
      call("patch", "/api/v1/replays/{replay_id}", { path: { replay_id: replay }, body: { pinned } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["run", run, "replays"] }),
  });
}

/** DELETE /runs/{id}: the run, its points and its files are gone. `onPurged` is called though the page be left. */
export function usePurgeRun(onPurged: (id: number) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => call("delete", "/api/v1/runs/{run_id}", { path: { run_id: id } }),
    onSuccess: (_, id) => {
      onPurged(id);
      return client.invalidateQueries({ queryKey: ["runs"] });
    },
  });
}

/** The server takes so many runs at once. */
const BULK = 1000;

interface ActOnAll {
  action: BulkAction;
  ids: number[];
  /** The outcome so far, filled call by call: a retry continues after the last answer. */
  result?: BulkResult;
}

async function actOnAll({ action, ids, result = { done: [], skipped: [] } }: ActOnAll): Promise<BulkResult> {
  const handled = new Set([...result.done, ...result.skipped.map(({ id }) => id)]);
  const left = ids.filter((id) => !handled.has(id));
  for (let from = 0; from < left.length; from += BULK) {
    const body = { action, ids: left.slice(from, from + BULK) };
    const { done, skipped } = await call("post", "/api/v1/runs/bulk", { body });
    result.done.push(...done);
    result.skipped.push(...skipped);
  }
  return result;
}

export function useBulkAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: actOnAll,
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
}

export type StudyAction = "pause" | "resume" | "stop";

/** POST /studies: the study is running from then on. */
export function useStartStudy() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: StartStudy): Promise<Study> => call("post", "/api/v1/studies", { body }),
    meta: OWN_ERRORS,
    onSuccess: (study) => settleStudy(client, study),
  });
}

/** POST /papers/…/studies: a study for each part is running from then on. */
export function useStartPaperItem(paper: string, item: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: StartPart): Promise<PaperStudy[]> =>
      call("post", "/api/v1/papers/{paper}/{item}/studies", { path: { paper, item }, body }),
    onSuccess: () => {
      for (const queryKey of [["papers"], ["studies", "list"], ["runs"]])
        void client.invalidateQueries({ queryKey });
    },
  });
}

/** POST /papers/…/measurements: short runs measure what these parts take. */
export function useMeasurePaperItem(paper: string, item: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (parts: string[]): Promise<PaperMeasurement[]> =>
      call("post", "/api/v1/papers/{paper}/{item}/measurements", { path: { paper, item }, body: { parts } }),
    onSuccess: () => void client.invalidateQueries({ queryKey: ["runs"] }),
  });
}

export function useStudyAction(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: StudyAction): Promise<Study> =>
      call("post", `/api/v1/studies/{study_id}/${action}`, { path: { study_id: id } }),
    meta: OWN_ERRORS,
    onSuccess: (study) => settleStudy(client, study),
  });
}

/** An action in a form that the browser can store. */
export type ActionRequest =
  | { target: "run"; id: number; action: RunAction }
  | { target: "study"; id: number; action: StudyAction }
  | { target: "runs"; ids: number[]; action: BulkAction };

/** Send an action that this browser stored. */
export function useStoredAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (request: ActionRequest): Promise<unknown> => {
      const { target, action } = request;
      if (target === "runs") return actOnAll(request);
      return target === "run"
        ? call("post", `/api/v1/runs/{run_id}/${action}`, { path: { run_id: request.id } })
        : call("post", `/api/v1/studies/{study_id}/${action}`, { path: { study_id: request.id } });
    },
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries(),
  });
}

/** More seeds of some points, or more points. */
export function useExtendStudy(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: ExtendStudy): Promise<Study> =>
      call("post", "/api/v1/studies/{study_id}/extend", { path: { study_id: id }, body }),
    onSuccess: (study) => settleStudy(client, study),
  });
}

/** DELETE /studies/{id}: its runs stay. */
export function useDeleteStudy(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call("delete", "/api/v1/studies/{study_id}", { path: { study_id: id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["studies", "list"] }),
  });
}

function settleStudy(client: QueryClient, study: Study): void {
  client.setQueryData(["studies", study.id], study);
  void client.invalidateQueries({ queryKey: ["studies", "list"] });
  void client.invalidateQueries({ queryKey: ["runs"] });
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: string) => call("post", "/api/v1/session", { body: { token } }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries(),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call("delete", "/api/v1/session", {}),
    onSuccess: () => client.resetQueries(),
  });
}
