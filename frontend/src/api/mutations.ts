import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { request } from "./client";
import { patchRun } from "./live/patch";
import type { BulkAction, BulkResult, LaunchRequest, Run, RunConfig } from "./types";

export type RunAction = "stop" | "pause" | "resume" | "archive" | "restore";

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
    mutationFn: (body: LaunchRequest) => request<Run>("POST", "/runs", { body }),
    meta: OWN_ERRORS,
    onSuccess: (run) => settle(client, run),
  });
}

export function useRunAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, action }: { id: number; action: RunAction }) =>
      request<Run>("POST", `/runs/${id}/${action}`),
    onSuccess: (run) => settle(client, run),
  });
}

export interface RunEdit {
  name?: string;
  tags?: string[];
  notes?: string;
  priority?: number;
}

export function useEditRun(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: RunEdit) => request<Run>("PATCH", `/runs/${id}`, { body }),
    onSuccess: (run) => settle(client, run),
  });
}

export function useCloneRun() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: { id: number; name?: string; overrides?: RunConfig }) =>
      request<Run>("POST", `/runs/${id}/clone`, { body }),
    onSuccess: (run) => settle(client, run),
  });
}

export function useForkRun(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { checkpoint_id: number; name?: string; overrides?: RunConfig }) =>
      request<Run>("POST", `/runs/${id}/fork`, { body }),
    meta: OWN_ERRORS,
    onSuccess: (run) => settle(client, run),
  });
}

/** DELETE /runs/{id}: the run, its points and its files are gone. */
export function usePurgeRun() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => request<undefined>("DELETE", `/runs/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
}

export function useBulkAction() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { action: BulkAction; ids: number[] }) =>
      request<BulkResult>("POST", "/runs/bulk", { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: string) => request<unknown>("POST", "/session", { body: { token } }),
    meta: OWN_ERRORS,
    onSuccess: () => client.invalidateQueries(),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => request<unknown>("DELETE", "/session"),
    onSuccess: () => client.resetQueries(),
  });
}
