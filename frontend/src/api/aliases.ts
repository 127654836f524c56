import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { OWN_ERRORS } from "./mutationState";
import { runKeys } from "./runs";
import type { components } from "./schema";

export type Alias = components["schemas"]["Alias"];
export type AliasEntry = components["schemas"]["AliasEntry"];
type SetAlias = components["schemas"]["SetAlias"];

export const aliasKeys = {
  all: ["aliases"] as const,
  list: ["aliases", "list"] as const,
  history: (name: string) => [...aliasKeys.all, "history", name] as const,
};

export const aliasesQuery = queryOptions({
  queryKey: aliasKeys.list,
  queryFn: ({ signal }): Promise<Alias[]> => call("get", "/api/v1/aliases", { signal }),
});

/** The checkpoints that an alias named, newest first. */
export const aliasHistoryQuery = (name: string) =>
  queryOptions({
    queryKey: aliasKeys.history(name),
    queryFn: ({ signal }): Promise<AliasEntry[]> =>
      call("get", "/api/v1/aliases/history", { params: { query: { name } }, signal }),
  });

/** Set an alias of a checkpoint of a run. */
export function useSetAlias(run: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: SetAlias): Promise<AliasEntry[]> => call("put", "/api/v1/aliases", { body }),
    meta: OWN_ERRORS,
    onSuccess: () =>
      Promise.all(
        [aliasKeys.all, runKeys.everythingOf(run)].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
}

/** Remove an alias. Its history and its checkpoint stay. */
export function useRemoveAlias() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => call("delete", "/api/v1/aliases", { params: { query: { name } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: aliasKeys.all }),
  });
}
