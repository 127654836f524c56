import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { aRun } from "@/testing/runs";
import { type Asked, listOf, refusal, serve } from "@/testing/server";
import { useBulkAction } from "./runActions";
import { runKeys, runQuery, useEditRun, useRunAction } from "./runs";

function hooked<Result>(hook: () => Result) {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return { client, ...renderHook(hook, { wrapper }) };
}

const idsOf = (body: unknown) => (body as { ids: number[] }).ids;

describe("an action on many runs", () => {
  it("is split into several calls, whose results are merged", async () => {
    const server = serve({
      "POST /runs/bulk": ({ body }: Asked) => {
        const [first = 0, ...done] = idsOf(body);
        return { done, skipped: [{ id: first, reason: `Run ${first} has finished.` }] };
      },
    });
    const { result } = hooked(useBulkAction);
    const ids = Array.from({ length: 2300 }, (_, at) => at + 1);
    const { done, skipped } = await result.current.mutateAsync({ action: "archive", ids });
    expect(server.asked.map(({ body }) => idsOf(body).length)).toEqual([1000, 1000, 300]);
    expect(done).toHaveLength(2297);
    expect(skipped.map(({ id }) => id)).toEqual([1, 1001, 2001]);
  });

  it("stops at the first call that the server refuses", async () => {
    let calls = 0;
    const server = serve({
      "POST /runs/bulk": () => (calls++ === 0 ? { done: [], skipped: [] } : refusal(500, "Away.")),
    });
    const { result } = hooked(useBulkAction);
    const ids = Array.from({ length: 3000 }, (_, at) => at);
    await expect(result.current.mutateAsync({ action: "stop", ids })).rejects.toThrow("Away.");
    expect(server.asked).toHaveLength(2);
  });
});

it("continues a retried bulk action after the last successful call", async () => {
  let calls = 0;
  const server = serve({
    "POST /runs/bulk": ({ body }: Asked) =>
      ++calls === 2 ? refusal(500, "Away.") : { done: idsOf(body), skipped: [] },
  });
  const { result } = hooked(useBulkAction);
  const ids = Array.from({ length: 1500 }, (_, at) => at + 1);
  const again = { action: "stop" as const, ids, result: { done: [], skipped: [] } };
  await expect(result.current.mutateAsync(again)).rejects.toThrow("Away.");
  const { done } = await result.current.mutateAsync(again);
  expect(done).toEqual(ids);
  expect(server.asked.map(({ body }) => idsOf(body).length)).toEqual([1000, 500, 500]);
});

it("shows the result of an action without a request, and marks lists as outdated", async () => {
  const server = serve({ "POST /runs/1/pause": aRun({ desired: "pause" }) });
  const { client, result } = hooked(useRunAction);
  client.setQueryData(runQuery(1).queryKey, aRun());
  client.setQueryData(runKeys.list({}), { pages: [listOf([aRun()])], pageParams: [null] });
  await result.current.mutateAsync({ id: 1, action: "pause" });
  await waitFor(() => expect(client.getQueryData(runQuery(1).queryKey)?.desired).toBe("pause"));
  expect(client.getQueryState(runKeys.list({}))?.isInvalidated).toBe(true);
  expect(server.asked).toHaveLength(1);
});

it("sends edits of a run one after another, so that the last one wins", async () => {
  const answers: (() => void)[] = [];
  const server = serve({
    "PATCH /runs/1": ({ body }: Asked) =>
      new Promise((resolve) => answers.push(() => resolve(aRun(body as object)))),
  });
  const { result } = hooked(() => [useEditRun(1), useEditRun(1)] as const);
  const [one, other] = result.current;
  const both = [one.mutateAsync({ name: "first" }), other.mutateAsync({ name: "second" })];
  await waitFor(() => expect(answers).toHaveLength(1));
  expect(server.asked.map(({ body }) => body)).toEqual([{ name: "first" }]);
  answers[0]?.();
  await waitFor(() => expect(answers).toHaveLength(2));
  answers[1]?.();
  await Promise.all(both);
});
