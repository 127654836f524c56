import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aReportedRun, aRun } from "@/testing/runs";
import { RunProgress } from "./RunProgress";

const HOUR = 3600;

describe("the progress of a run", () => {
  it.each([
    [aRun({ seconds_left: 183 }), "25%3 min left"],
    [aRun({ seconds_left: 83 }), "25%1 min 23 s left"],
    [aRun({ seconds_left: 9 * HOUR + 1800 }), "25%9 h 30 min left"],
    [aRun({ seconds_left: 12 * HOUR + 1800 }), "25%13 h left"],
    [aRun({ seconds_left: null }), "25%"],
    [aRun({ state: "paused", seconds_left: 183 }), "25%"],
    [aFinishedRun(), "100%"],
    [aRun({ step: 29, total_steps: 100, seconds_left: null }), "29%"],
    [aRun({ step: 999_999, seconds_left: 1 }), "99%1 s left"],
    [aRun({ step: 0, total_steps: 0, seconds_left: null }), "0%"],
  ])("shows the progress and, during training, the time left", (run, words) => {
    renderPage(<RunProgress run={run} />);
    const bar = screen.getByRole("progressbar");
    expect(bar.parentElement?.textContent?.replace(/[\s\u202f](?=%)/g, "")).toBe(words);
    expect(words.split("%")[0]).toBe(bar.getAttribute("aria-valuenow"));
  });

  it("shows the steps without a bar if the total is not known", () => {
    renderPage(<RunProgress run={aReportedRun({ step: 1_234_567 })} />);
    expect(screen.getByText("1.2 M steps")).toBeTruthy();
    expect(screen.queryByRole("progressbar")).toBeNull();
  });
});
