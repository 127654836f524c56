import { vi } from "vitest";

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

export type Answer = object | ((asked: Asked) => object | Promise<object>);

/**
 * Fake a server below /api/v1 with responses for keys such as "GET /runs". It records the requests. Tests may
 * change the responses later.
 */
export function serve(answers: Record<string, Answer>) {
  const asked: Asked[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const sent = input instanceof Request ? input : new Request(new URL(input, location.href), init);
    const url = new URL(sent.url);
    const body = await sent.text();
    const request: Asked = {
      method: sent.method,
      path: url.pathname.replace(/^\/api\/v1/, ""),
      query: url.searchParams,
      body: body ? JSON.parse(body) : undefined,
    };
    asked.push(request);
    const found = answers[`${request.method} ${request.path}`];
    if (!found) return refusal(404, `Nothing is served at ${request.path}.`);
    const answer = typeof found === "function" ? await found(request) : found;
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  });
  return {
    asked,
    /** Return the requests of one kind, such as "POST /runs". */
    of: (name: string) => asked.filter(({ method, path }) => `${method} ${path}` === name),
  };
}

/** Return a problem document response. */
export function refusal(status: number, detail: string, errors: { field: string; message: string }[] = []) {
  return Response.json(
    { title: "Refused", detail, errors },
    { status, headers: { "Content-Type": "application/problem+json" } },
  );
}

/** Return an empty response. */
export const done = () => new Response(null, { status: 204 });

/** Return a page of a list. */
export function listOf<T>(items: T[], { total = items.length, next_cursor = null as string | null } = {}) {
  return { items, total, next_cursor };
}
