import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { OWN_ERRORS } from "./mutationState";
import type { Session } from "./types";

export const sessionKey = ["session"] as const;

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: ({ signal }): Promise<Session> => call("get", "/api/v1/session", { signal }),
  staleTime: 60_000,
});

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
