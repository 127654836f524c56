import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it } from "vitest";
import { aReport } from "@/testing/reports";
import { serve } from "@/testing/server";
import { reportQuery, useSaveReport } from "./reports";

it("keeps a saved change when an older response arrives later", async () => {
  let arrive: (answer: object) => void = () => undefined;
  serve({
    "GET /reports/7": () => new Promise<object>((resolve) => (arrive = resolve)),
    "PATCH /reports/7": aReport({ id: 7, version: 2 }),
  });
  const client = new QueryClient();
  const { result } = renderHook(() => useSaveReport(7, () => undefined), {
    wrapper: ({ children }: { children: ReactNode }) => (
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    ),
  });
  client.setQueryData(reportQuery(7).queryKey, aReport({ id: 7, version: 1 }));
  const older = client.fetchQuery(reportQuery(7)).catch(() => undefined);

  await result.current.mutateAsync({ version: 1, title: "Rates", blocks: [] });
  arrive(aReport({ id: 7, version: 1 }));
  await older;

  expect(client.getQueryData(reportQuery(7).queryKey)?.version).toBe(2);
});
