import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";

export const sessionKey = ["session"] as const;

export const sessionQuery = apiQuery(sessionKey, "/api/v1/session", {}, { staleTime: 60_000 });

export function useSignIn() {
  return useApiMutation((token: string) => call("post", "/api/v1/session", { body: { token } }), {
    ownErrors: true,
    onDone: (client) => client.invalidateQueries(),
  });
}

export function useSignOut() {
  return useApiMutation(() => call("delete", "/api/v1/session", {}), {
    onDone: (client) => client.resetQueries(),
  });
}
