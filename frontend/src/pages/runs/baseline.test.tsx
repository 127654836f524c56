import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aRun } from "@/testing/runs";
import { deltaOf, directionOf, judge } from "./baseline";
import RunsPage from "./RunsPage";

describe("a difference to the baseline", () => {
  const better = {
    ...aRun({ best_return: 20, steps_per_second: 90 }),
    metrics: { "train/loss": { last: 1, max: 3, min: 1 } },
  };
  const base = {
    ...aRun({ best_return: 15, steps_per_second: 100 }),
    metrics: { "train/loss": { last: 2, max: 3, min: 1 } },
  };

  it("is judged by the direction of the number", () => {
    const judged = (column: string) => {
      const delta = deltaOf(better, base, column);
      return delta && [delta.value, judge(delta)];
    };
    expect(judged("best_return")).toEqual([5, "better"]);
    expect(judged("steps_per_second")).toEqual([-10, "worse"]);
    expect(judged("metric.train/loss.last")).toEqual([-1, "better"]);
    expect(judged("metric.train/loss.max")).toEqual([0, "neutral"]);
    expect(judged("state")).toBeNull();
    expect(judged("metric.other.last")).toBeNull();
  });

  it("has no direction for metrics without a known one", () => {
    expect(["a/score", "a/value_loss", "train/entropy"].map(directionOf)).toEqual([1, -1, 0]);
  });
});

it("shows differences to a baseline that stays on top and is cleared with one click", async () => {
  const runs = [
    aRun({ id: 2, name: "second", best_return: 10 }),
    aRun({ id: 1, name: "first", best_return: 15 }),
  ];
  openRuns({ runs });
  const { router } = renderPage(<RunsPage />, { at: "/?columns=name,best_return" });
  await userEvent.click(await screen.findByRole("button", { name: "Actions for first" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: "Use as baseline" }));
  await screen.findByText("−5");
  expect(screen.getByTitle("−5, worse than the baseline")).toBeTruthy();
  const names = screen
    .getAllByRole("checkbox", { name: /^Select (?!all)/ })
    .map((box) => box.ariaLabel ?? box.getAttribute("aria-label"));
  expect(names).toEqual(["Select first", "Select second"]);
  expect(router.state.location.search).toContain("baseline=1");
  await userEvent.click(screen.getByTitle("Clear baseline"));
  await waitFor(() => expect(screen.queryByText("−5")).toBeNull());
  expect(router.state.location.search).not.toContain("baseline");
});
