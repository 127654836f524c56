import { describe, expect, it, vi } from "vitest";
import { address, call } from "./client";
import { ApiError, UnreachableError } from "./problem";

const answer = (status: number, body: string, type = "application/problem+json") =>
  vi
    .spyOn(globalThis, "fetch")
    .mockResolvedValue(new Response(body, { status, headers: { "Content-Type": type } }));

async function refusalOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(() => null).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

it("repeats lists and leaves empty values out of an address", () => {
  expect(address("/runs", { state: ["running", "queued"], text: "", cursor: null, archived: false })).toBe(
    "/api/v1/runs?state=running&state=queued&archived=false",
  );
});

describe("a call", () => {
  it("gives what the server answers", async () => {
    const fetched = answer(200, '{"id": 7}', "application/json");
    await expect(call("post", "/api/v1/runs", { body: { preset: "paac-pong" } })).resolves.toEqual({ id: 7 });
    expect(fetched.mock.calls[0]?.[0]).toBe("/api/v1/runs");
    expect(fetched.mock.calls[0]?.[1]).toMatchObject({ method: "POST", body: '{"preset":"paac-pong"}' });
  });

  it("turns a problem document into an error that knows its fields", async () => {
    answer(
      422,
      JSON.stringify({
        type: "about:blank",
        title: "Invalid",
        detail: "Two fields are wrong.",
        errors: [{ field: "config.num_envs", message: "must be at most 1024" }],
      }),
    );
    const error = await refusalOf(call("post", "/api/v1/runs", { body: {} }));
    expect(error.status).toBe(422);
    expect(error.message).toBe("Two fields are wrong.");
    expect(error.forField("num_envs")).toBe("must be at most 1024");
    expect(error.forField("config.num_envs")).toBe("must be at most 1024");
    expect(error.forField("envs")).toBeUndefined();
  });

  it("has words for an answer that is no problem document", async () => {
    answer(502, "<html>bad gateway</html>", "text/html");
    const error = await refusalOf(call("get", "/api/v1/runs", {}));
    expect(error.message).toBe("The server is away; it may be restarting.");
  });

  it("says that nothing answers", async () => {
    vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("Failed to fetch"));
    await expect(call("get", "/api/v1/runs", {})).rejects.toBeInstanceOf(UnreachableError);
  });

  it("does not take a page from between for the server's answer", async () => {
    answer(200, "<html>Sign in to the network</html>", "text/html");
    const error: unknown = await call("get", "/api/v1/runs", {}).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(String(error)).toContain("Something else answered in the server's place");
  });

  it("takes an answer that breaks off for none", async () => {
    answer(200, '{"items": [', "application/json");
    await expect(call("get", "/api/v1/runs", {})).rejects.toBeInstanceOf(UnreachableError);
  });

  it("does not wait for ever for an answer", async () => {
    const late = new AbortController();
    vi.spyOn(AbortSignal, "timeout").mockReturnValue(late.signal);
    vi.spyOn(globalThis, "fetch").mockImplementation(
      (_, init) =>
        new Promise((_resolve, reject) =>
          init?.signal?.addEventListener("abort", () => reject(new Error("late"))),
        ),
    );
    const asked = call("get", "/api/v1/runs", { signal: new AbortController().signal });
    late.abort();
    await expect(asked).rejects.toBeInstanceOf(UnreachableError);
  });

  it("has no body to read after a deletion", async () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response(null, { status: 204 }));
    await expect(
      call("delete", "/api/v1/runs/{run_id}", { params: { path: { run_id: 7 } } }),
    ).resolves.toBeUndefined();
    expect(fetched.mock.calls[0]?.[0]).toBe("/api/v1/runs/7");
  });
});
