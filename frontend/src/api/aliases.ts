import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { runKeys } from "./runs";
import type { components } from "./schema";
import { live, ofAny, ofJobs } from "./topics";

export type Alias = components["schemas"]["Alias"];
export type AliasEntry = components["schemas"]["AliasEntry"];
type SetAlias = components["schemas"]["SetAlias"];

export const aliasKeys = {
  all: ["aliases"] as const,
  list: ["aliases", "list"] as const,
  history: (name: string) => [...aliasKeys.all, "history", name] as const,
};

const ALIASES = live([...ofAny("run.files"), ...ofJobs("evaluation")]);

export const aliasesQuery = apiQuery(aliasKeys.list, "/api/v1/aliases", {}, ALIASES);

/** The checkpoints that an alias named, newest first. */
export const aliasHistoryQuery = (name: string) =>
  apiQuery(aliasKeys.history(name), "/api/v1/aliases/history", { query: { name } }, ALIASES);

/** Set an alias of a checkpoint of a run. */
export function useSetAlias(run: number) {
  return useApiMutation((body: SetAlias) => call("put", "/api/v1/aliases", { body }), {
    ownErrors: true,
    refetch: [aliasKeys.all, runKeys.everythingOf(run)],
  });
}

/** Remove an alias. Its history and its checkpoint stay. */
export function useRemoveAlias() {
  return useApiMutation(
    (name: string) => call("delete", "/api/v1/aliases", { params: { query: { name } } }),
    { refetch: [aliasKeys.all] },
  );
}
