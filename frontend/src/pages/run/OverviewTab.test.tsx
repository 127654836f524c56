import { screen, within } from "@testing-library/react";
import { useQuery } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import { metricNamesQuery } from "@/api/metrics";
import type { Run } from "@/api/types";
import { CATALOG } from "@/testing/catalog";
import { aCheckpoint, aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { OverviewTab } from "./OverviewTab";

// jsdom plays no videos.
beforeEach(() => {
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});

function open(run: Run, more: Record<string, object> = {}) {
  serve({
    [`GET /runs/${run.id}/replays`]: [],
    [`GET /runs/${run.id}/checkpoints`]: [],
    "GET /presets": [],
    "GET /config-schema": { properties: {} },
    ...more,
  });
  return renderPage(<OverviewTab run={run} />);
}

it("shows four replays of a run that has ended, from the first to the best, instead of the newest", async () => {
  const replays = [0, 1, 2, 3, 4, 5].map((step) => aReplay(step + 1, step));
  open(aFinishedRun({ id: 1 }), {
    "GET /runs/1/replays": replays,
    "GET /runs/1/checkpoints": [aCheckpoint(1, 3, { best: true })],
  });
  const section = within(await screen.findByRole("region", { name: "How this agent learned" }));
  for (const title of ["First", "Early", "Late", "Best"]) expect(section.getByText(title)).toBeTruthy();
  const link = section.getByRole("link", { name: "Open these replays" });
  expect(link.getAttribute("href")).toBe("/runs/1/replays?replays=1,2,3,4");
  expect(screen.queryByRole("region", { name: "Newest replay" })).toBeNull();
});

it("does not say that an agent learned whose return has stalled", async () => {
  const replays = [0, 1, 2, 3, 4, 5].map((step) => aReplay(step + 1, step));
  open(aFinishedRun({ id: 1 }), {
    "GET /runs/1/replays": replays,
    "GET /runs/1/checkpoints": [aCheckpoint(1, 3, { best: true })],
    "GET /runs/1/diagnosis": [
      {
        rule: "return_stalled",
        title: "Return stalled",
        cause: "The agent learns nothing.",
        detail: "",
        evidence: { metric: "episode/return", title: "Return per episode", first_step: 0, last_step: 5 },
        settings: [],
        test: null,
        tests: [],
      },
    ],
  });
  expect(await screen.findByRole("region", { name: "Replays over training" })).toBeTruthy();
  expect(screen.queryByText("How this agent learned")).toBeNull();
});

it("shows the age of the newest replay and the steps since", async () => {
  const played = aReplay(1, 100_000, { created_at: new Date(Date.now() - 3.5 * 3600_000).toISOString() });
  open(aRun({ step: 250_000 }), { "GET /runs/1/replays": [played] });
  const newest = within(await screen.findByRole("region", { name: "Newest replay" }));
  expect((await newest.findByText(/^Recorded/)).textContent).toBe(
    "Recorded 3 h ago; the run has trained 150 k steps since",
  );
});

it("announces the first replay of a training run, but not of an ended run", async () => {
  const { unmount } = open(aRun());
  expect(await screen.findByText("The first replay is recorded after the first checkpoint.")).toBeTruthy();
  unmount();
  const recording = open(aRun(), { "GET /runs/1/checkpoints": [aCheckpoint(1, 3)] });
  expect(await screen.findByText(/^The first replay is being recorded./)).toBeTruthy();
  recording.unmount();
  const paused = open(aRun({ state: "paused" }));
  expect(
    await screen.findByText(/^This run is paused; resume it to continue. The first replay/),
  ).toBeTruthy();
  paused.unmount();
  open(aFinishedRun());
  expect(await screen.findByText("This run has no replays.")).toBeTruthy();
});

it("says that the replays could not be loaded", async () => {
  open(aFinishedRun(), { "GET /runs/1/replays": () => refusal(500, "The disk is unavailable.") });
  expect(await screen.findByText("The disk is unavailable.")).toBeTruthy();
  expect(screen.queryByText("Loading replay…")).toBeNull();
});

it("requests no chart of a script that logged no metrics", async () => {
  const run = aFinishedRun({ origin: "reported" });
  const server = serve({
    "GET /runs/1/metric-names": [],
    "GET /presets": [],
    "GET /config-schema": { properties: {} },
  });
  renderPage(<OverviewTab run={run} />);
  expect(await screen.findByText("The script of this run has logged none.")).toBeTruthy();
  expect(server.of("GET /figures/curves")).toHaveLength(0);
});

/** The tabs of the page ask for the names of metrics too. */
function Tabs() {
  const { data } = useQuery(metricNamesQuery(1));
  return data ? <OverviewTab run={aRun()} /> : null;
}

it("draws the return of a run before its first episode ends", async () => {
  serve({
    "GET /runs/1/metric-names": ["train/value_loss"],
    "GET /runs/1/replays": [],
    "GET /runs/1/checkpoints": [],
    "GET /metric-catalog": CATALOG,
    "GET /presets": [],
    "GET /config-schema": { properties: {} },
  });
  renderPage(<Tabs />);
  expect(await screen.findByText("Return per episode")).toBeTruthy();
});
