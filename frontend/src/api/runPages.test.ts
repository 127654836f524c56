import { describe, expect, it } from "vitest";
import { aFinishedRun, aRun, runListOf } from "@/testing/runs";
import { readRunPage } from "./runPages";
import type { components } from "./schema";

type Page = components["schemas"]["RunPage"];

describe("a page of the run list", () => {
  it("has every field of each run, including its actions", () => {
    const runs = [aRun({ id: 1 }), aFinishedRun({ id: 2, tags: ["a"] }), aRun({ id: 3, notes: "Note." })];
    const page = runListOf(runs, { total: 9, next_cursor: "later" }) as unknown as Page;
    expect(page.actions).toHaveLength(2);
    const read = readRunPage(page);
    expect([read.total, read.next_cursor]).toEqual([9, "later"]);
    for (const [at, listed] of read.items.entries()) expect(runs[at]).toMatchObject(listed);
    expect(read.items.map(({ archived_at, parent, tags }) => [archived_at, parent, tags])).toEqual([
      [null, null, []],
      [null, null, ["a"]],
      [null, null, []],
    ]);
  });

  it("has the requested settings", () => {
    const run = aRun({ config: { seed: 3, gamma: 0.9 } });
    const page = runListOf([run], { include: ["config.seed"] }) as unknown as Page;
    expect(readRunPage(page).items[0]?.config).toEqual({ seed: 3 });
    expect(readRunPage(runListOf([run]) as unknown as Page).items[0]).not.toHaveProperty("config");
  });

  it("is rejected if the actions of a run are missing", () => {
    const page = { ...runListOf([aRun()]), actions: [] } as unknown as Page;
    expect(() => readRunPage(page)).toThrow("did not send the actions of run 1");
  });
});
