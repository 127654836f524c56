import createClient, {
  type ClientPathsWithMethod,
  type MaybeOptionalInit,
  type MethodResponse,
} from "openapi-fetch";
import { ApiError, ForeignResponseError, isOldSession, problemFrom, UnreachableError } from "./problem";
import type { paths } from "./schema";
import { rememberVersion } from "./versions";

const API = "/api/v1";
/** Longer than any response of the server takes. A proxy may never respond. */
const TIMEOUT_MS = 90_000;

type Query = Record<string, unknown>;

/** Repeat the name for each item of a list, and omit empty values. */
function queryString(query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    for (const item of list) {
      if (item !== undefined && item !== null && item !== "") params.append(name, String(item));
    }
  }
  return params.toString();
}

/** Return the address of a path below /api/v1. */
export function address(path: string, query: Query = {}): string {
  const text = queryString(query);
  return `${API}${path}${text ? `?${text}` : ""}`;
}

export function fileAddress(fileId: number): string {
  return address(`/files/${fileId}`);
}

async function fetchJson(request: Request): Promise<Response> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const response = await fetch(request, { signal });
  // Other content comes from something in between, such as the sign-in page of a proxy.
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
  if (response.ok && response.status !== 204 && !isJson) throw new ForeignResponseError();
  return response;
}

type SignInAgain = () => Promise<boolean>;
let signInAgain: SignInAgain | undefined;

/** Set how a person proves again who they are. The result is false if they do not want to. */
export function onOldSession(ask: SignInAgain | undefined) {
  signInAgain = ask;
}

const client = createClient<paths>({
  baseUrl: globalThis.location?.origin,
  fetch: fetchJson,
  querySerializer: queryString,
});
type Client = typeof client;
export type GetPath = ClientPathsWithMethod<Client, "get">;
type Method = "get" | "post" | "put" | "patch" | "delete";

const send = client.request as (
  method: Method,
  path: string,
  init: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

/**
 * Call the API. Throw an ApiError if the server refuses, or an UnreachableError if it does not respond. A request that
 * needs a person who has just signed in is sent again after they have.
 */
export async function call<
  M extends Method,
  P extends ClientPathsWithMethod<Client, M>,
  T extends MethodResponse<Client, M, P>,
>(method: M, path: P, init: MaybeOptionalInit<paths[P], M> & { signal?: AbortSignal }): Promise<T> {
  try {
    const { data, error, response } = await send(method, path, init);
    if (!response.ok) {
      const problem = problemFrom(response.status, error);
      if (!isOldSession(problem) || !signInAgain) throw problem;
      if (await signInAgain()) return await call<M, P, T>(method, path, init);
      throw new ApiError(response.status, {
        detail: "Nothing has changed, because you did not sign in again.",
      });
    }
    if (method === "get") rememberVersion(data, response);
    return data as T;
  } catch (error) {
    if (init.signal?.aborted || error instanceof ApiError || error instanceof UnreachableError) throw error;
    throw new UnreachableError(error);
  }
}
