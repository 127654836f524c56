import {
  type QueryClient,
  type QueryKey,
  queryOptions,
  type UndefinedInitialDataOptions,
  useMutation,
  type UseMutationOptions,
} from "@tanstack/react-query";
import { call, type GetPath } from "./client";
import { OWN_ERRORS } from "./mutationState";
import type { ApiError, UnreachableError } from "./problem";
import type { paths } from "./schema";

export type RequestError = ApiError | UnreachableError;

type Params<P extends GetPath> = paths[P] extends { get: { parameters: infer Found } } ? Found : never;
// MethodResponse of openapi-fetch turns tuples into arrays.
type Body<P extends GetPath> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer Found } } } };
}
  ? Found
  : never;
type Options<P extends GetPath, K extends QueryKey> = Omit<
  UndefinedInitialDataOptions<Body<P>, RequestError, Body<P>, K>,
  "queryKey" | "queryFn"
>;

/** Return the query of a GET endpoint. */
export function apiQuery<const K extends QueryKey, P extends GetPath>(
  queryKey: K,
  path: P,
  ...[params, options]: object extends Params<P>
    ? [params?: Params<P>, options?: Options<P, K>]
    : [params: Params<P>, options?: Options<P, K>]
) {
  return queryOptions<Body<P>, RequestError, Body<P>, K>({
    ...options,
    queryKey,
    queryFn: ({ signal }) => call("get", path, { params, signal } as never) as Promise<Body<P>>,
  });
}

interface Outcome<Result, Variables> extends Pick<
  UseMutationOptions<Result, RequestError, Variables>,
  "mutationKey" | "scope" | "onMutate" | "onError"
> {
  /** Queries to fetch again after success. The mutation stays pending until they are fetched. */
  refetch?: readonly QueryKey[];
  /** Fetch them after an error too, because it can mean that the data had changed. */
  refetchOnError?: boolean;
  /** Called after success, even if the user has left the page, and before the queries are fetched. */
  onDone?: (client: QueryClient, result: Result, variables: Variables) => unknown;
  /** True if the page shows errors itself, so that no notification appears. */
  ownErrors?: boolean;
}

/** Return a mutation that sends a request, and then fetches the queries that it changed. */
export function useApiMutation<Result, Variables = void>(
  mutationFn: (variables: Variables) => Promise<Result>,
  { refetch = [], refetchOnError, onDone, ownErrors, ...options }: Outcome<Result, Variables> = {},
) {
  return useMutation<Result, RequestError, Variables>({
    ...options,
    mutationFn,
    ...(ownErrors && { meta: OWN_ERRORS }),
    onSuccess: (result, variables, _, { client }) => onDone?.(client, result, variables),
    onSettled: (_result, error, _variables, _, { client }) =>
      error && !refetchOnError
        ? undefined
        : Promise.all(refetch.map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
}
