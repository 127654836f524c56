import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError, UnreachableError } from "@/api/problem";
import { sessionKey } from "@/api/session";
import { notifyProblem } from "@/ui/notify";

/** Asking again helps when the server was away or stumbled, not when it said no. */
export function worthRetrying(failures: number, error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 && failures < 2;
  return error instanceof UnreachableError && failures < 3;
}

export function createQueryClient(): QueryClient {
  const askWhoIsThere = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      void client.invalidateQueries({ queryKey: sessionKey });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: askWhoIsThere }),
    mutationCache: new MutationCache({
      onError(error, _variables, _result, mutation) {
        askWhoIsThere(error);
        // Forms show their own errors beside the fields.
        if (!mutation.meta?.ownErrors) notifyProblem(error);
      },
    }),
    defaultOptions: {
      // The live stream says when something changed; networkMode because the server may be this very machine, offline.
      queries: { staleTime: 10_000, retry: worthRetrying, retryDelay: 1000, networkMode: "always" },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}
