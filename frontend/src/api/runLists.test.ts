import { QueryClient, type QueryKey } from "@tanstack/react-query";
import { beforeEach, describe, expect, it } from "vitest";
import { aRun } from "@/testing/runs";
import { listOf } from "@/testing/server";
import { checkpointKeys } from "./checkpoints";
import { dropRun, patchRun, runKeys, shownState } from "./runs";
import type { Run } from "./types";

const LIST = runKeys.list({});
const ELSEWHERE = runKeys.list({ state: ["failed"] });

describe("a run in cached lists", () => {
  let client: QueryClient;
  const show = (key: QueryKey, runs: Run[]) =>
    client.setQueryData(key, { pages: [listOf(runs), listOf([])], pageParams: [null, "later"] });
  const shown = (key: QueryKey) =>
    client.getQueryData<{ pages: { items: Run[] }[] }>(key)?.pages.flatMap(({ items }) => items);

  beforeEach(() => {
    client = new QueryClient();
    show(LIST, [aRun({ id: 1 }), aRun({ id: 2 })]);
    show(ELSEWHERE, [aRun({ id: 3 })]);
  });

  it("is replaced in every list that has it, at the same position", () => {
    const before = client.getQueryData(ELSEWHERE);
    expect(patchRun(client, aRun({ id: 2, step: 9 }))).toEqual({ listed: true });
    expect(shown(LIST)?.map(({ id, step }) => [id, step])).toEqual([
      [1, 250_000],
      [2, 9],
    ]);
    expect(client.getQueryData(ELSEWHERE)).toBe(before);
  });

  it("is not added to lists without it, but is cached for its page", () => {
    expect(patchRun(client, aRun({ id: 7 }))).toEqual({ listed: false });
    expect(shown(LIST)?.map(({ id }) => id)).toEqual([1, 2]);
    expect(client.getQueryData<Run>(runKeys.detail(7))?.id).toBe(7);
  });

  it("has another state after it is archived", () => {
    const before = shownState(client, 1);
    patchRun(client, aRun({ id: 1, archived_at: "2026-01-02T00:00:00Z" }));
    expect(shownState(client, 1)).not.toBe(before);
    expect(shownState(client, 7)).toBeUndefined();
  });

  it("is removed from the whole cache after it is purged", () => {
    client.setQueryData(runKeys.detail(1), aRun());
    client.setQueryData(checkpointKeys.list(1), []);
    dropRun(client, 1);
    expect(shown(LIST)?.map(({ id }) => id)).toEqual([2]);
    expect(client.getQueriesData({ queryKey: runKeys.everythingOf(1) })).toEqual([]);
  });
});
