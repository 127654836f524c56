import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import type { ReportBlock } from "@/api/types";
import { comparisonOf, RUNS } from "@/testing/comparisons";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { runListOf } from "@/testing/runs";
import { type Asked, listOf, serve } from "@/testing/server";
import { BlockEditor } from "./BlockEditor";
import { newBlock } from "./draft";

/** Open the editor of one block. Return a function that returns the current block. */
function edit(block: ReportBlock) {
  const changed = vi.fn<(block: ReportBlock) => void>();
  const server = serve({
    "GET /runs": runListOf(RUNS),
    "GET /compare": ({ query }: Asked) =>
      comparisonOf(RUNS.filter(({ id }) => (query.get("runs") ?? "").split(",").includes(String(id)))),
    "GET /runs/2/replays": [aReplay(7, 1000), aReplay(8, 3000, { episode_return: 21 })],
    "GET /studies": listOf([]),
    "GET /metric-catalog": [],
    "GET /runs/1": RUNS[0] ?? {},
    "POST /reports/preview": { problem: "Nothing yet." },
  });
  function Editor() {
    const [now, setNow] = useState(block);
    const onChange = (next: ReportBlock) => {
      changed(next);
      setNow(next);
    };
    const nothing = () => undefined;
    return (
      <BlockEditor
        id="block"
        block={now}
        place={0}
        last
        problems={[]}
        onChange={onChange}
        onMove={nothing}
        onDelete={nothing}
      />
    );
  }
  renderPage(<Editor />);
  return { server, now: () => changed.mock.lastCall?.[0] };
}

const open = (label: string) => fireEvent.click(screen.getByRole("combobox", { name: label }));
const type = (label: string, value: string) =>
  userEvent.type(screen.getByRole("combobox", { name: label }), value);
const pick = async (option: RegExp) => fireEvent.click(await screen.findByRole("option", { name: option }));
const addressOf = (block: ReportBlock | undefined) => {
  if (block?.kind !== "chart") throw new Error("not a chart");
  return new URL(block.address, "http://arcadia.test");
};

it("picks runs and a metric by search, and stores the figure URL", async () => {
  const { server, now } = edit(newBlock("chart"));
  await type("Add a run", "fast");
  await waitFor(() => expect(server.of("GET /runs").at(-1)?.query.get("text")).toBe("fast"));
  expect(server.of("GET /runs").at(-1)?.query.get("sort")).toBe("-created_at");
  await pick(/^fast · .* · 2$/);
  expect(await screen.findByRole("button", { name: "Remove run 2" })).toBeTruthy();
  await type("Add a run", "1, 5-6");
  await pick(/^Runs 1, 5-6: 3$/);
  open("Metric");
  await pick(/^Custom$/);
  fireEvent.click(screen.getByLabelText("log y"));
  const { pathname, searchParams } = addressOf(now());
  expect(pathname).toBe("/api/v1/figures/curves");
  expect(Object.fromEntries(searchParams)).toMatchObject({
    runs: "2,1,5,6",
    metric: "train/custom",
    smoothing: "0.6",
    group: "seed",
    y_log: "true",
  });
  fireEvent.click(screen.getByRole("button", { name: "Remove run 1" }));
  expect(addressOf(now()).searchParams.get("runs")).toBe("2,5,6");
});

it("reads the URL of an older report, keeps its zoom, and edits it as text", async () => {
  const address = "/api/v1/figures/curves?runs=1,2&metric=train%2Fcustom&from=5&to=9&smoothing=0.2";
  const { now } = edit({ kind: "chart", address, caption: "" });
  expect(await screen.findByRole("button", { name: "Remove run 2" })).toBeTruthy();
  fireEvent.click(screen.getByLabelText("log y"));
  const kept = Object.fromEntries(addressOf(now()).searchParams);
  expect(kept).toMatchObject({ from: "5", to: "9", smoothing: "0.2", metric: "train/custom" });
  fireEvent.click(screen.getByRole("radio", { name: "Frames" }));
  expect(addressOf(now()).searchParams.has("from")).toBe(false);
  const field = screen.getByLabelText("Figure URL");
  fireEvent.change(field, { target: { value: "/api/v1/studies/4/figure" } });
  expect(now()).toMatchObject({ address: "/api/v1/studies/4/figure" });
  expect(screen.getByRole("combobox", { name: "Chart" })).toHaveProperty("value", "Another figure");
  expect(screen.queryByRole("combobox", { name: "Add a run" })).toBeNull();
});

it("keeps only one run for a chart of one run", async () => {
  const address = "/api/v1/figures/curves?runs=1,2";
  const { now } = edit({ kind: "chart", address, caption: "" });
  open("Chart");
  await pick(/^Evaluations of a run$/);
  expect(addressOf(now()).pathname).toBe("/api/v1/figures/evaluations");
  expect(addressOf(now()).searchParams.get("runs")).toBe("1");
  expect(addressOf(now()).searchParams.has("metric")).toBe(false);
});

it("picks a replay of a run, the newest first", async () => {
  const { now } = edit(newBlock("replay"));
  await type("Pick a run", "fast");
  await pick(/^fast · /);
  const field = await screen.findByRole("combobox", { name: "Replay" });
  fireEvent.click(field);
  const options = await screen.findAllByRole("option", { name: /^At / });
  expect(options.map(({ textContent }) => textContent)).toEqual([
    expect.stringMatching(/3\D*000|3 k/),
    expect.stringMatching(/1\D*000|1 k/),
  ]);
  fireEvent.click(options[0] as HTMLElement);
  expect(now()).toMatchObject({ kind: "replay", replay: 8 });
  fireEvent.click(screen.getByRole("button", { name: "Remove run 2" }));
  expect(now()).toMatchObject({ replay: 0 });
});

it("picks the runs of a table, and clears them for a study", async () => {
  const { now } = edit(newBlock("table"));
  await type("Add a run", "1-2");
  await pick(/^Runs 1-2: 2$/);
  expect(now()).toMatchObject({ of: "runs", numbers: [1, 2] });
  open("Content");
  await pick(/^Evaluations/);
  expect(now()).toMatchObject({ of: "evaluations", numbers: [1, 2] });
  open("Content");
  await pick(/^Points of a study$/);
  expect(now()).toMatchObject({ of: "study", numbers: [] });
});
