import { describe, expect, it, vi } from "vitest";
import { ApiError, UnreachableError } from "@/api/problem";
import { runKeys } from "@/api/runs";
import { sessionKey } from "@/api/session";
import { createQueryClient, worthRetrying } from "./queryClient";

const answered = (status: number) => new ApiError(status, {});

describe("a request that failed", () => {
  it("is repeated while the server is away or stumbles, and not for ever", () => {
    const away = new UnreachableError("no route");
    expect([0, 1, 2, 3].map((failures) => worthRetrying(failures, away))).toEqual([true, true, true, false]);
    expect([0, 1, 2].map((failures) => worthRetrying(failures, answered(503)))).toEqual([true, true, false]);
  });

  it.each([400, 401, 404, 409, 422])("is not repeated after %d", (status) => {
    expect(worthRetrying(0, answered(status))).toBe(false);
  });

  it("is not repeated for a mistake of the page", () => {
    expect(worthRetrying(0, new TypeError("x is undefined"))).toBe(false);
  });
});

it("asks who is signed in as soon as the server asks for a token", async () => {
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
