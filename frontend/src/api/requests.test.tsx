// @vitest-environment jsdom
import { QueryClient, QueryClientProvider, QueryObserver } from "@tanstack/react-query";
import { renderHook } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { ApiError } from "./problem";
import { useApiMutation } from "./requests";

const KEY = ["numbers"];

/** Render a mutation beside a query on screen. */
function mutation(options: Parameters<typeof useApiMutation<string, string>>[1]) {
  const client = new QueryClient({ defaultOptions: { mutations: { networkMode: "always" } } });
  const fetched = vi.fn(() => Promise.resolve(0));
  client.setQueryData(KEY, 0);
  new QueryObserver(client, { queryKey: KEY, queryFn: fetched, staleTime: Infinity }).subscribe(() => {});
  const send = (text: string) =>
    text === "refused" ? Promise.reject(new ApiError(409, {})) : Promise.resolve(text);
  const { result } = renderHook(() => useApiMutation(send, { refetch: [KEY], ...options }), {
    wrapper: ({ children }) => <QueryClientProvider client={client}>{children}</QueryClientProvider>,
  });
  return { fetched, run: (text: string) => result.current.mutateAsync(text) };
}

it("fetches the queries that a mutation changed after its outcome was handled", async () => {
  const events: string[] = [];
  const { fetched, run } = mutation({ onDone: (_, result) => events.push(result) });
  fetched.mockImplementation(() => Promise.resolve(events.push("fetched")));
  await run("done");
  expect(events).toEqual(["done", "fetched"]);
});

it("fetches nothing after an error, unless it can mean that the data had changed", async () => {
  const plain = mutation({});
  await expect(plain.run("refused")).rejects.toThrow();
  expect(plain.fetched).not.toHaveBeenCalled();
  const changed = mutation({ refetchOnError: true });
  await expect(changed.run("refused")).rejects.toThrow();
  expect(changed.fetched).toHaveBeenCalledTimes(1);
});
