import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { aVersion } from "@/testing/artifacts";
import { renderPage } from "@/testing/render";
import { aReportedRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { ArtifactsTab } from "./ArtifactsTab";

describe("the artifacts of a run", () => {
  it("are listed as made and used", async () => {
    serve({
      "GET /runs/1/artifacts": {
        made: [aVersion()],
        used: [
          aVersion({ id: 2, artifact_id: 8, name: "levels", version: 0, aliases: [], bytes: 0, step: null }),
        ],
      },
    });
    renderPage(<ArtifactsTab run={aReportedRun()} />);
    const made = within(await screen.findByRole("region", { name: "Made by this run" }));
    expect(made.getByRole("link").getAttribute("href")).toBe("/artifacts/3/v1");
    const used = within(screen.getByRole("region", { name: "Used by this run" }));
    expect(used.getByRole("link", { name: "levels:v0" }).getAttribute("href")).toBe("/artifacts/8/v0");
  });

  it("say how to log one if there are none", async () => {
    serve({ "GET /runs/1/artifacts": { made: [], used: [] } });
    renderPage(<ArtifactsTab run={aReportedRun()} />);
    expect(await screen.findByText("No artifacts in this run")).toBeTruthy();
  });
});
