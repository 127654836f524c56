import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Lineage, LineageRun } from "@/api/lineage";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { LineageTab } from "./LineageTab";

const aLineageRun = (id: number, name: string, changes: Partial<LineageRun> = {}): LineageRun => ({
  id,
  name,
  state: "finished",
  origin: "trained",
  step: null,
  ...changes,
});

function open(changes: Partial<Lineage>, run = aRun()) {
  const lineage: Lineage = {
    ancestors: [],
    ancestor_deleted: false,
    run: aLineageRun(1, "Mine"),
    checkpoints: [],
    ...changes,
  };
  serve({ "GET /runs/1/lineage": lineage });
  renderPage(<LineageTab run={run} />);
}

describe("the lineage of a run", () => {
  it("names the runs that it continues", async () => {
    open({ ancestor_deleted: true, ancestors: [aLineageRun(4, "Parent", { step: 2000 })] });
    const origin = within(await screen.findByRole("region", { name: "Origin" }));
    expect(origin.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
      "a run that was deleted, or to which you have no access",
      "Parent (run 4) at 2 k steps",
      expect.stringContaining("continued from there"),
    ]);
    expect(origin.getByRole("link").getAttribute("href")).toBe("/runs/4/lineage");
  });

  it("shows what was made of each checkpoint", async () => {
    open({
      checkpoints: [
        {
          id: 7,
          step: 3000,
          available: true,
          aliases: ["champion"],
          evaluations: [{ id: 5, protocol: "no-op-5min", mean: 21, episodes: 30 }],
          forks: [aLineageRun(8, "Fork")],
          agents: [aLineageRun(9, "Agent", { origin: "agent" })],
        },
        { id: 6, step: 4000, available: false, aliases: [], evaluations: [], forks: [], agents: [] },
      ],
    });
    const checkpoints = within(await screen.findByRole("region", { name: "Checkpoints" }));
    expect(checkpoints.getByText("champion")).toBeTruthy();
    expect(checkpoints.getByRole("link", { name: "Download agent" }).getAttribute("href")).toBe(
      "/api/v1/runs/1/agent?checkpoint=7",
    );
    expect(checkpoints.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
      "Evaluation 5: 21, 30 episodes by no-op-5min",
      "Fork: Fork (run 8)",
      "Imported agent: Agent (run 9)",
    ]);
    expect(checkpoints.getByText("deleted")).toBeTruthy();
  });

  it("says that a run comes from an agent file", async () => {
    open({}, aRun({ origin: "agent" }));
    expect(await screen.findByText(/imported from an agent file/)).toBeTruthy();
  });
});
