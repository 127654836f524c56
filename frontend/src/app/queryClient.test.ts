import { describe, expect, it, vi } from "vitest";
import { ApiError, UnreachableError } from "@/api/problem";
import { runKeys } from "@/api/runs";
import { sessionKey } from "@/api/session";
import { createQueryClient, shouldRetry } from "./queryClient";

const answered = (status: number) => new ApiError(status, {});

describe("a failed request", () => {
  it("is retried a few times if the server is unreachable or fails", () => {
    const away = new UnreachableError("no route");
    expect([0, 1, 2, 3].map((failures) => shouldRetry(failures, away))).toEqual([true, true, true, false]);
    expect([0, 1, 2].map((failures) => shouldRetry(failures, answered(503)))).toEqual([true, true, false]);
  });

  it.each([400, 401, 404, 409, 422])("is not retried after %d", (status) => {
    expect(shouldRetry(0, answered(status))).toBe(false);
  });

  it("is not retried after an error of the page", () => {
    expect(shouldRetry(0, new TypeError("x is undefined"))).toBe(false);
  });
});

it("refetches the session when the server requires a token", async () => {
  const client = createQueryClient();
  const asked = vi.spyOn(client, "invalidateQueries");
  const queryFn = () => Promise.reject(answered(401));
  await client.fetchQuery({ queryKey: runKeys.lists, queryFn }).catch(() => undefined);
  expect(asked).toHaveBeenCalledWith({ queryKey: sessionKey });
  asked.mockClear();
  await client
    .fetchQuery({ queryKey: runKeys.detail(1), queryFn: () => Promise.reject(answered(404)) })
    .catch(() => undefined);
  expect(asked).not.toHaveBeenCalled();
});
