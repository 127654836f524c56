import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { CurvesTab, SystemTab } from "./CurvesTab";

const NAMES = ["train/custom", "system/load", "time/custom", "episode/return", "throughput/custom"];

function open(element: React.ReactElement, names: object = NAMES) {
  serve({ "GET /runs/1/metric-names": names });
  renderPage(element);
}

const charts = async () =>
  (await screen.findAllByRole("figure")).map((figure) =>
    figure.querySelector("[title]")?.getAttribute("title"),
  );

describe("the charts of a run", () => {
  it("shows learning metrics, episodes first", async () => {
    open(<CurvesTab run={aRun()} />);
    const shown = await charts();
    expect(shown[0]).toBe("episode/return");
    expect(shown).toContain("train/custom");
    expect(shown).not.toContain("system/load");
    expect(shown).not.toContain("time/custom");
  });

  it("shows system metrics on their own tab", async () => {
    open(<SystemTab run={aRun()} />);
    expect((await charts()).toSorted()).toEqual(["system/load", "throughput/custom", "time/custom"]);
  });

  it.each([
    [aRun(), /^Curves appear here when the run reports/],
    [aFinishedRun(), "This run ended before it reported any metrics."],
  ])("says whether to expect curves if there are none", async (run, text) => {
    open(<CurvesTab run={run} />, []);
    expect(await screen.findByText(text)).toBeTruthy();
  });

  it("shows a failed load", async () => {
    open(<CurvesTab run={aRun()} />, () => refusal(500, "The database is locked."));
    expect(await screen.findByText("The database is locked.")).toBeTruthy();
  });
});
