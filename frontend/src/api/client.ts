import { problemOf, UnreachableError } from "./problem";

export const API = "/api/v1";

export type QueryValue = string | number | boolean | null | undefined;
export type QueryParams = Record<string, QueryValue | readonly (string | number)[]>;

export interface RequestOptions {
  query?: QueryParams;
  body?: unknown;
  signal?: AbortSignal;
}

/** An address below /api/v1; lists repeat their name, and empty values are left out. */
export function address(path: string, query: QueryParams = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
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
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const { query, body, signal } = options;
  let response: Response;
  try {
    response = await fetch(address(path, query), {
      method,
      signal,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new UnreachableError(error);
  }
  if (!response.ok) throw await problemOf(response);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}
