import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError, UnreachableError } from "@/api/problem";
import { accountQuery, sessionKey } from "@/api/session";
import { notifyProblem } from "@/ui/notify";

/** Return true if a retry can help: the server was unreachable or failed, but did not refuse. */
export function shouldRetry(failures: number, error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 && failures < 2;
  return error instanceof UnreachableError && failures < 3;
}

/** How old the known roles are at least before a refusal lets them be read again. */
const ROLES_MILLISECONDS = 5_000;

export function createQueryClient(): QueryClient {
  const refetchSession = (error: unknown) => {
    if (!(error instanceof ApiError)) return;
    if (error.status === 401) void client.invalidateQueries({ queryKey: sessionKey });
    const known = client.getQueryState(accountQuery.queryKey);
    // A role may have ended.
    const isOld = known?.data?.has_role && Date.now() - known.dataUpdatedAt > ROLES_MILLISECONDS;
    if (isOld && (error.status === 403 || error.status === 404))
      void client.invalidateQueries({ queryKey: accountQuery.queryKey });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: refetchSession }),
    mutationCache: new MutationCache({
      onError(error, _variables, _result, mutation) {
        refetchSession(error);
        // Forms show their errors next to the fields.
        if (!mutation.meta?.ownErrors) notifyProblem(error);
      },
    }),
    defaultOptions: {
      // The live connection reports changes. The server may run on this computer, so requests work offline.
      queries: { staleTime: 10_000, retry: shouldRetry, retryDelay: 1000, networkMode: "always" },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}
