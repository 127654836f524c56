import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Study } from "@/api/types";
import { aPaper } from "@/testing/papers";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import { aPoint, aStudy } from "@/testing/studies";
import StudyPage from "./StudyPage";

function open(study: Study) {
  const server = serve({
    "GET /studies/3": () => study,
    "GET /papers/a3c": aPaper(),
    "GET /studies/3/figure": { data: [], layout: {} },
    "POST /studies/3/pause": { ...study, state: "paused" },
    "POST /studies/3/stop": { ...study, state: "stopped" },
    "POST /studies/3/extend": study,
  });
  renderPage(<StudyPage />, { at: "/studies/3", path: "/studies/:id" });
  return server;
}

const rows = async () => {
  const table = within(await screen.findByRole("region", { name: "Points" })).getByRole("table");
  return within(table).getAllByRole("row").slice(1);
};

describe("the page of a study", () => {
  it("ranks points by mean return, with interval, n and runs", async () => {
    open(
      aStudy({
        table: [aPoint(0), aPoint(1, { low: 19, high: 23.5, n: 2 }), aPoint(2, { mean: null, n: 0 })],
      }),
    );
    const [best, second, last] = (await rows()) as [HTMLElement, HTMLElement, HTMLElement];
    expect(best.textContent).toContain("Learning rate 0.001");
    expect(best.textContent).toContain("19.0 to 23.5");
    expect(second.textContent).toContain("Learning rate 0.0001");
    expect(last.textContent).toContain("Learning rate 0.01");
    const seed = within(best).getByRole("link", { name: "Seed 1: finished, 21" });
    expect(seed.getAttribute("href")).toBe("/runs/11");
    expect(within(best).queryByRole("link", { name: /Seed 2/ })).toBeNull();
    expect(screen.getByText("fastest")).toBeTruthy();
    expect(screen.getByText("4 runs: 2 finished, 2 planned")).toBeTruthy();
  });

  it("shows the verdict and the decision on each point of a study until certain", async () => {
    const decision = { state: "decided" as const, beaten_by: null, e_value: 0.01, threshold: 20 };
    const worse = { ...decision, beaten_by: 1, e_value: 46, threshold: 40 };
    open(
      aStudy({
        table: [aPoint(0, { decision: worse }), aPoint(1, { decision })],
        verdict: "Learning rate 0.001 ranks highest: the runs of every other point tend to score lower.",
      }),
    );
    const [best, second] = (await rows()) as [HTMLElement, HTMLElement];
    expect(within(best).getByText("Ranks highest")).toBeTruthy();
    await userEvent.hover(within(second).getByText("Ranks below Learning rate 0.001"));
    expect(await screen.findByText("E-value 46 of the 40 that show it ranks lower")).toBeTruthy();
    const verdict = within(screen.getByRole("region", { name: "Verdict" }));
    expect(
      verdict.getByText(
        "Learning rate 0.001 ranks highest: the runs of every other point tend to score lower.",
      ),
    ).toBeTruthy();
  });

  it("shows which points of a study until certain are undecided", async () => {
    const decision = { beaten_by: null, e_value: 3, threshold: 40 };
    open(
      aStudy({
        table: [
          aPoint(0, { decision: { ...decision, state: "limit_reached" } }),
          aPoint(1, { decision: { ...decision, state: "undecided" } }),
        ],
        verdict: "Undecided: Learning rate 0.0001 and Learning rate 0.001.",
      }),
    );
    const [first, second] = (await rows()) as [HTMLElement, HTMLElement];
    expect(within(first).getByText("Undecided")).toBeTruthy();
    expect(within(second).getByText("Limit reached")).toBeTruthy();
  });

  it("shows no decisions of a study with a fixed number of seeds", async () => {
    open(aStudy());
    await rows();
    expect(screen.queryByRole("columnheader", { name: "Decision" })).toBeNull();
    expect(screen.queryByRole("region", { name: "Verdict" })).toBeNull();
  });

  it("links to comparisons of one point and of all points", async () => {
    open(aStudy());
    const link = await screen.findByRole("link", { name: "Compare all curves" });
    expect(link.getAttribute("href")).toBe("/compare?runs=1,11");
    expect(screen.getByRole("link", { name: "Learning rate 0.001" }).getAttribute("href")).toBe(
      "/compare?runs=11",
    );
  });

  it("adds five new seeds to the best point", async () => {
    const server = open(aStudy());
    const [best] = (await rows()) as [HTMLElement];
    await userEvent.click(within(best).getByRole("button", { name: "Add 5 new seeds" }));
    expect(server.of("POST /studies/3/extend").map(({ body }) => body)).toEqual([{ seeds: 5, of: [1] }]);
  });

  it("adds seeds only to points with a finished run", async () => {
    open(aStudy({ table: [aPoint(0), aPoint(1, { mean: null, n: 0 })] }));
    await userEvent.click(await screen.findByRole("button", { name: "Add seeds to best" }));
    expect(await screen.findByText("3 more runs.")).toBeTruthy();
    expect(screen.getByLabelText<HTMLInputElement>("Number of best points").value).toBe("1");
    expect(screen.getByText("1 point with a finished run")).toBeTruthy();
  });

  it("adds no seeds to a point that ranks lower", async () => {
    const beaten = { state: "decided" as const, beaten_by: 1, e_value: 46, threshold: 40 };
    const best = { ...beaten, beaten_by: null };
    const table = [aPoint(0, { decision: beaten }), aPoint(1, { decision: best })];
    open(aStudy({ table, verdict: "Learning rate 0.001 ranks highest." }));
    await userEvent.click(await screen.findByRole("button", { name: "Add seeds to best" }));
    expect(await screen.findByText("1 point with a finished run, not ranked below another")).toBeTruthy();
  });

  it("counts failed runs beside the mean", async () => {
    open(aStudy({ table: [aPoint(0, { failed: 2 }), aPoint(1)] }));
    const [, second] = (await rows()) as [HTMLElement, HTMLElement];
    expect(within(second).getByText("1 (2 failed)")).toBeTruthy();
  });

  it("asks before new seeds resume a stopped study", async () => {
    const server = open(aStudy({ state: "stopped", runs_remaining: 41 }));
    const [best] = (await rows()) as [HTMLElement];
    await userEvent.click(within(best).getByRole("button", { name: "Add 5 new seeds" }));
    const question = within(await screen.findByRole("dialog"));
    expect(question.getByText(/This also creates its 41 remaining runs\./)).toBeTruthy();
    expect(server.of("POST /studies/3/extend")).toEqual([]);
    await userEvent.click(question.getByRole("button", { name: "Launch 46 runs" }));
    expect(server.of("POST /studies/3/extend").map(({ body }) => body)).toEqual([{ seeds: 5, of: [1] }]);
  });

  it("does not ask if a stopped study has no remaining runs", async () => {
    const server = open(aStudy({ state: "stopped", runs_remaining: 0 }));
    const [best] = (await rows()) as [HTMLElement];
    await userEvent.click(within(best).getByRole("button", { name: "Add 5 new seeds" }));
    expect(server.of("POST /studies/3/extend")).toHaveLength(1);
  });

  it("shows which other runs a stopped study would create", async () => {
    open(aStudy({ state: "stopped", runs_remaining: 1 }));
    await userEvent.click(await screen.findByRole("button", { name: "Add seeds to best" }));
    expect(await screen.findByText("6 more runs. This also creates its remaining run.")).toBeTruthy();
  });

  it("adds seeds to the best points", async () => {
    const server = open(aStudy());
    await userEvent.click(await screen.findByRole("button", { name: "Add seeds to best" }));
    expect(await screen.findByText("6 more runs.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Extend study" }));
    expect(server.of("POST /studies/3/extend").map(({ body }) => body)).toEqual([{ seeds: 3, best: 2 }]);
  });

  it("shows the allowed actions and asks before stopping", async () => {
    const server = open(aStudy());
    await userEvent.click(await screen.findByRole("button", { name: "Pause study" }));
    expect(server.of("POST /studies/3/pause").length).toBe(1);
    expect(screen.queryByRole("button", { name: "Resume study" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Delete" })).toBeNull();
    expect(screen.getByRole("link", { name: "Clone" }).getAttribute("href")).toBe("/launch?study=3");
    await userEvent.click(screen.getByRole("button", { name: "Stop study" }));
    expect(server.of("POST /studies/3/stop").length).toBe(0);
    const question = await screen.findByRole("dialog");
    await userEvent.click(within(question).getByRole("button", { name: "Stop study" }));
    expect(server.of("POST /studies/3/stop").length).toBe(1);
  });

  it.each([
    [0, "This permanently stops its queued and training runs."],
    [9, "This permanently stops its queued and training runs. Resume the study to create 9 remaining runs."],
  ])("explains what happens to %d remaining runs", async (runs_remaining, text) => {
    open(aStudy({ runs_remaining }));
    await userEvent.click(await screen.findByRole("button", { name: "Stop study" }));
    expect(await screen.findByText(text)).toBeTruthy();
  });

  it("can be exported with its runs", async () => {
    open(aStudy());
    const link = await screen.findByRole("link", { name: "Export archive" });
    expect(link.getAttribute("href")).toBe("/api/v1/archives?studies=3");
  });

  it("links to the paper's figure that it was started from", async () => {
    open(aStudy({ origin: { paper: "a3c", item: "figure-2", part: "pong", share: 0.01 } }));
    const link = await screen.findByRole("link", { name: "A3C, figure 2" });
    expect(link.getAttribute("href")).toBe("/papers/a3c/figure-2");
    expect(link.parentElement?.textContent).toBe("From A3C, figure 2, at 1 % of its budget");
  });

  it("shows that it was deleted in another window", async () => {
    let there = true;
    serve({
      "GET /studies/3": () => (there ? aStudy() : refusal(404, "There is no study 3.")),
      "GET /studies/3/figure": { data: [], layout: {} },
    });
    const { client } = renderPage(<StudyPage />, { at: "/studies/3", path: "/studies/:id" });
    await screen.findByText("Which rate?");
    there = false;
    await client.invalidateQueries();
    expect(await screen.findByRole("heading", { name: "There is no study 3" })).toBeTruthy();
    expect(screen.queryByText("Which rate?")).toBeNull();
  });

  it("shows that an address names no study, without a request", async () => {
    const server = serve({});
    renderPage(<StudyPage />, { at: "/studies/abc", path: "/studies/:id" });
    expect(await screen.findByRole("heading", { name: "There is no study abc" })).toBeTruthy();
    expect(server.asked).toEqual([]);
  });

  it("shows why it paused automatically", async () => {
    open(aStudy({ state: "paused", state_reason: "The last 5 runs have failed." }));
    expect(
      await screen.findByText(/The last 5 runs have failed\. Fix the cause, then resume the study/),
    ).toBeTruthy();
  });
});
