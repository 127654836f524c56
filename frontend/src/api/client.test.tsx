import { describe, expect, it, vi } from "vitest";
import { address, call } from "./client";
import { ApiError, UnreachableError } from "./problem";

const respond = (status: number, body: string, type = "application/problem+json") =>
  vi
    .spyOn(globalThis, "fetch")
    .mockResolvedValue(new Response(body, { status, headers: { "Content-Type": type } }));

const sentTo = ({ mock }: { mock: { calls: unknown[][] } }) => mock.calls[0]?.[0] as Request;

async function errorOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(() => null).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

it("repeats list items and omits empty values in an address", () => {
  expect(address("/runs", { state: ["running", "queued"], text: "", cursor: null, archived: false })).toBe(
    "/api/v1/runs?state=running&state=queued&archived=false",
  );
});

describe("a call", () => {
  it("returns the response", async () => {
    const fetched = respond(200, '{"id": 7}', "application/json");
    await expect(call("post", "/api/v1/runs", { body: { preset: "paac-pong" } })).resolves.toEqual({ id: 7 });
    const request = sentTo(fetched);
    expect(request.method).toBe("POST");
    expect(new URL(request.url).pathname).toBe("/api/v1/runs");
    expect(await request.json()).toEqual({ preset: "paac-pong" });
  });

  it("turns a problem document into an error with field messages", async () => {
    respond(
      422,
      JSON.stringify({
        type: "about:blank",
        title: "Invalid",
        detail: "Two fields are wrong.",
        errors: [{ field: "config.num_envs", message: "must be at most 1024" }],
      }),
    );
    const error = await errorOf(call("post", "/api/v1/runs", { body: {} }));
    expect(error.status).toBe(422);
    expect(error.message).toBe("Two fields are wrong.");
    expect(error.forField("num_envs")).toBe("must be at most 1024");
    expect(error.forField("config.num_envs")).toBe("must be at most 1024");
    expect(error.forField("envs")).toBeUndefined();
  });

  it("explains an error response that is not a problem document", async () => {
    respond(502, "<html>bad gateway</html>", "text/html");
    const error = await errorOf(call("get", "/api/v1/runs", {}));
    expect(error.message).toBe("The server is unavailable. It may be restarting.");
  });

  it("fails if the server does not respond", async () => {
    vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("Failed to fetch"));
    await expect(call("get", "/api/v1/runs", {})).rejects.toBeInstanceOf(UnreachableError);
  });

  it("rejects a page of a proxy", async () => {
    respond(200, "<html>Sign in to the network</html>", "text/html");
    const error: unknown = await call("get", "/api/v1/runs", {}).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(String(error)).toContain("The response did not come from the server");
  });

  it("fails if the response breaks off", async () => {
    respond(200, '{"items": [', "application/json");
    await expect(call("get", "/api/v1/runs", {})).rejects.toBeInstanceOf(UnreachableError);
  });

  it("times out", async () => {
    const timeout = new AbortController();
    vi.spyOn(AbortSignal, "timeout").mockReturnValue(timeout.signal);
    vi.spyOn(globalThis, "fetch").mockImplementation(
      (_, init) =>
        new Promise((_resolve, reject) =>
          init?.signal?.addEventListener("abort", () => reject(new Error("timeout"))),
        ),
    );
    const response = call("get", "/api/v1/runs", { signal: new AbortController().signal });
    timeout.abort();
    await expect(response).rejects.toBeInstanceOf(UnreachableError);
  });

  it("returns nothing after a deletion", async () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response(null, { status: 204 }));
    await expect(
      call("delete", "/api/v1/runs/{run_id}", { params: { path: { run_id: 7 } } }),
    ).resolves.toBeUndefined();
    expect(new URL(sentTo(fetched).url).pathname).toBe("/api/v1/runs/7");
  });
});
