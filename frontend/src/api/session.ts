import { address, call } from "./client";
import { apiQuery, useApiMutation } from "./requests";

export const sessionKey = ["session"] as const;

export const sessionQuery = apiQuery(sessionKey, "/api/v1/session", {}, { staleTime: 60_000 });

/** How people sign in here: by password, or by the server's token. */
export const signInMethodsQuery = apiQuery(["sign-in methods"], "/api/v1/session/methods");

/** Your account and your roles. */
export const accountQuery = apiQuery(["account"], "/api/v1/account", {}, { staleTime: 60_000 });

export function useSignIn() {
  return useApiMutation(
    (body: { token: string } | { email: string; password: string }) =>
      call("post", "/api/v1/session", { body }),
    { ownErrors: true, onDone: (client) => client.invalidateQueries() },
  );
}

/** Prove again who you are, to change credentials for some minutes. */
export function useSignInAgain() {
  return useApiMutation((password: string) => call("post", "/api/v1/session/again", { body: { password } }), {
    ownErrors: true,
    refetch: [accountQuery.queryKey],
  });
}

/** Return where the OpenID provider signs a person in, and then opens a page of this server. */
export const providerAddress = (then: string, again = false) =>
  address("/session/oidc", { then, again: again || null });

export function useSignOut() {
  return useApiMutation(() => call("delete", "/api/v1/session", {}), {
    onDone: (client) => client.resetQueries(),
  });
}

/** End all of your sessions, also this one. */
export function useSignOutEverywhere() {
  return useApiMutation(() => call("delete", "/api/v1/sessions", {}), {
    onDone: (client) => client.resetQueries(),
  });
}
