import { waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { prefetchPage } from "./pageData";
import { createQueryClient } from "./queryClient";
import { serve } from "@/testing/server";

function requests(pathname: string, search = "") {
  const server = serve({
    "GET /session": { required: false, signed_in: true },
    "GET /figures": [],
    "GET /metric-catalog": [],
    "GET /runs/7": { id: 7 },
    "GET /runs": { items: [], total: 0, next_cursor: null },
    "GET /run-settings": { settings: [] },
    "GET /compare": { runs: [], groups: [] },
    "GET /figures/curves": { data: [], layout: {}, complete: true },
  });
  prefetchPage(createQueryClient(), { pathname, search });
  return server;
}

it("requests the curves of a comparison before its code is loaded", async () => {
  const server = requests("/compare", "?runs=7,8&smoothing=0.3");
  await waitFor(() => expect(server.of("GET /figures/curves")).toHaveLength(1));
  expect(server.of("GET /compare")[0]?.query.get("runs")).toBe("7,8");
  const { query } = server.of("GET /figures/curves")[0] ?? {};
  expect([query?.get("runs"), query?.get("smoothing"), query?.get("metric")]).toEqual([
    "7,8",
    "0.3",
    "episode/return",
  ]);
});

it("requests a run, and nothing of it for an address that is none", async () => {
  const run = requests("/runs/7/curves");
  await waitFor(() => expect(run.of("GET /runs/7")).toHaveLength(1));
  const other = requests("/runs/7x");
  await waitFor(() => expect(other.of("GET /session")).toHaveLength(1));
  expect(other.of("GET /metric-catalog")).toHaveLength(0);
});

it("requests the runs of the list at an address", async () => {
  const server = requests("/", "?state=failed&project=Maze");
  await waitFor(() => expect(server.of("GET /runs")).toHaveLength(1));
  const { query } = server.of("GET /runs")[0] ?? {};
  expect([query?.get("state"), query?.get("project"), query?.get("include")]).toEqual([
    "failed",
    "Maze",
    null,
  ]);
});
