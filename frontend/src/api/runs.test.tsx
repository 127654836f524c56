import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { aRun } from "@/testing/runs";
import { type Asked, listOf, refusal, serve } from "@/testing/server";
import { bulkServer, idsOf } from "@/testing/bulk";
import { useBulkAction } from "./runActions";
import { runKeys, runQuery, useEditRun, useRunAction } from "./runs";

function hooked<Result>(hook: () => Result) {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return { client, ...renderHook(hook, { wrapper }) };
}

describe("an action on many runs", () => {
  it("waits for its end, and returns the skipped runs", async () => {
    const server = serve(bulkServer(([first = 0]) => [{ id: first, reason: `Run ${first} has finished.` }]));
    const { result } = hooked(useBulkAction);
    const ids = Array.from({ length: 12_300 }, (_, at) => at + 1);
    const { done, skipped } = await result.current.mutateAsync({ action: "archive", ids });
    const sent = server.of("POST /bulk-actions");
    expect(sent.map(({ body }) => idsOf(body).length)).toEqual([10_000, 2300]);
    expect(server.of("GET /bulk-actions/1")[0]?.query.get("wait")).toBe("finished");
    expect(done).toHaveLength(12_298);
    expect(skipped.map(({ id }) => id)).toEqual([1, 10_001]);
  });

  it("fails with the reason why the server ended it", async () => {
    const message = "The account of Ana was disabled.";
    serve({
      ...bulkServer(),
      "GET /bulk-actions/1": { id: 1, state: "cancelled", message, done: 0, skipped: 0 },
    });
    const { result } = hooked(useBulkAction);
    await expect(result.current.mutateAsync({ action: "stop", ids: [1] })).rejects.toThrow(message);
  });
});

it("continues a retried bulk action after the last successful call", async () => {
  let isAway = true;
  const working = bulkServer();
  const server = serve({
    ...working,
    "GET /bulk-actions/1": (asked: Asked) =>
      isAway ? refusal(500, "Away.") : (working["GET /bulk-actions/1"] as (asked: Asked) => object)(asked),
  });
  const { result } = hooked(useBulkAction);
  const ids = [1, 2, 3];
  const again = { action: "stop" as const, ids, result: { done: [], skipped: [] } };
  await expect(result.current.mutateAsync(again)).rejects.toThrow("Away.");
  isAway = false;
  const { done } = await result.current.mutateAsync(again);
  expect(done).toEqual(ids);
  expect(server.of("POST /bulk-actions")).toHaveLength(1);
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
