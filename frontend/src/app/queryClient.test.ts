import { describe, expect, it, vi } from "vitest";
import { ApiError, UnreachableError } from "@/api/problem";
import { runKeys } from "@/api/runs";
import { accountQuery, sessionKey } from "@/api/session";
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

it("reads the roles again when something is refused or missing, unless they are new", async () => {
  vi.useFakeTimers();
  const client = createQueryClient();
  const account = {
    person: null,
    is_administrator: false,
    can_create_first: false,
    session_id: 1,
    has_role: true,
    administrators: [],
    fresh_until: null,
    proofs: [],
    max_token_days: null,
  };
  client.setQueryData(accountQuery.queryKey, account);
  const asked = vi.spyOn(client, "invalidateQueries");
  const fail = (status: number) =>
    client
      .fetchQuery({ queryKey: ["x", status, Date.now()], queryFn: () => Promise.reject(answered(status)) })
      .catch(() => undefined);
  await fail(403);
  expect(asked).not.toHaveBeenCalled();
  for (const [status, times] of [
    [409, 0],
    [403, 1],
    [404, 2],
  ] as const) {
    vi.advanceTimersByTime(6_000);
    await fail(status);
    expect(asked).toHaveBeenCalledTimes(times);
  }
  expect(asked).toHaveBeenCalledWith({ queryKey: accountQuery.queryKey });
  vi.useRealTimers();
});
