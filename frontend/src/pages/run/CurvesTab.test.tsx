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

describe("the curves of a run", () => {
  it("are those of learning, the episodes first", async () => {
    open(<CurvesTab run={aRun()} />);
    const shown = await charts();
    expect(shown[0]).toBe("episode/return");
    expect(shown).toContain("train/custom");
    expect(shown).not.toContain("system/load");
    expect(shown).not.toContain("time/custom");
  });

  it("stand apart from those of the machine", async () => {
    open(<SystemTab run={aRun()} />);
    expect((await charts()).toSorted()).toEqual(["system/load", "throughput/custom", "time/custom"]);
  });

  it.each([
    [aRun(), /^Curves appear here with the first numbers/],
    [aFinishedRun(), "This run ended before it reported any numbers."],
  ])("say whether some will come where there are none", async (run, words) => {
    open(<CurvesTab run={run} />, []);
    expect(await screen.findByText(words)).toBeTruthy();
  });

  it("say that they could not be fetched", async () => {
    open(<CurvesTab run={aRun()} />, () => refusal(500, "The database is locked."));
    expect(await screen.findByText("The database is locked.")).toBeTruthy();
  });
});
