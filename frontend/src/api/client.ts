import { ApiError, NotTheServerError, problemOf, UnreachableError } from "./problem";
import type { paths } from "./schema";

const API = "/api/v1";
/** Longer than the server ever takes; what lies between may never answer. */
const PATIENCE_MS = 90_000;

type Method = "get" | "post" | "patch" | "delete";
type MethodOf<P extends keyof paths> = { [M in Method]: paths[P][M] extends object ? M : never }[Method];
type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : undefined;

type Answer<Operation> = Operation extends { responses: infer R }
  ? R extends { 200: infer Ok }
    ? Json<Ok>
    : R extends { 201: infer Created }
      ? Json<Created>
      : undefined
  : never;

/** What a call must and may give, as the API's description says: path, query and body. */
type Params<Operation> = (Operation extends { parameters: { path: infer P } }
  ? { path: P }
  : { path?: never }) &
  (Operation extends { parameters: { query?: infer Q } } ? { query?: Q } : { query?: never });
type Given<Operation> = (Operation extends { parameters: { path: object } }
  ? { params: Params<Operation> }
  : { params?: Params<Operation> }) &
  (Operation extends { requestBody: infer B } ? { body: Json<B> } : { body?: never }) & {
    signal?: AbortSignal;
    /** Whether the call outlives the page that makes it. */
    keepalive?: boolean;
  };

type Values = Record<string, unknown>;

/** An address below /api/v1; lists repeat their name, and empty values are left out. */
export function address(path: string, query: Values = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const list: unknown[] = Array.isArray(value) ? value : [value];
    for (const one of list) {
      if (one !== undefined && one !== null && one !== "") params.append(name, String(one));
    }
  }
  const text = params.toString();
  return `${API}${path}${text ? `?${text}` : ""}`;
}

export function fileAddress(fileId: number): string {
  return address(`/files/${fileId}`);
}

/** One call of the API; throws ApiError for a refusal and UnreachableError when nothing answers. */
export async function call<P extends keyof paths, M extends MethodOf<P>, T extends Answer<paths[P][M]>>(
  method: M,
  path: P,
  given: Given<paths[P][M]>,
): Promise<T> {
  const { params, body, signal, keepalive } = given as {
    params?: { path?: Values; query?: Values };
    body?: unknown;
    signal?: AbortSignal;
    keepalive?: boolean;
  };
  const filled = path
    .slice(API.length)
    .replace(/\{(\w+)\}/g, (_, name: string) => String(params?.path?.[name]));
  return (await request(method.toUpperCase(), address(filled, params?.query), body, {
    signal,
    keepalive,
  })) as T;
}

async function request(
  method: string,
  url: string,
  body: unknown,
  { signal, keepalive }: Pick<RequestInit, "signal" | "keepalive">,
): Promise<unknown> {
  const late = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await fetch(url, {
      method,
      signal: signal ? AbortSignal.any([signal, late]) : late,
      keepalive,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw await problemOf(response);
    if (response.status === 204) return undefined;
    if (!isJson(response)) throw new NotTheServerError();
    return await response.json();
  } catch (error) {
    if (signal?.aborted || error instanceof ApiError || error instanceof UnreachableError) throw error;
    throw new UnreachableError(error);
  }
}

/** Whatever else comes with a good status is from between, such as the page of a portal that asks to sign in. */
function isJson(response: Response): boolean {
  return response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
}
