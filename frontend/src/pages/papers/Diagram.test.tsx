import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { PaperDiagram } from "@/api/types";
import { aPaperItem } from "@/testing/papers";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import ItemPage from "./ItemPage";

const RUNS: PaperDiagram["runs"] = [
  { id: 12, name: "Second", state: "running" },
  { id: 5, name: "First", state: "finished" },
];

function aBox(changes: Partial<PaperDiagram["boxes"][number]>): PaperDiagram["boxes"][number] {
  return {
    name: "agents",
    title: "Agents",
    kind: "processes",
    does: "Act.",
    column: 0,
    row: 0,
    rows: 1,
    many: true,
    learned: false,
    readings: [],
    ...changes,
  };
}

function aDiagram(changes: Partial<PaperDiagram> = {}): PaperDiagram {
  return {
    name: "ga3c",
    title: "GA3C: queues",
    preset: "ga3c-cartpole",
    run: RUNS[0] ?? null,
    runs: RUNS,
    boxes: [
      aBox({ readings: [{ label: "N_A", value: 16, unit: "", measured: true }] }),
      aBox({
        name: "network",
        title: "Network",
        column: 1,
        readings: [
          { label: "Body", value: "mlp", unit: "", measured: false },
          { label: "Time in it", value: 0.42, unit: "share", measured: true },
          { label: "Policy lag", value: null, unit: "updates", measured: false },
        ],
      }),
    ],
    arrows: [
      { start: "agents", end: "network", carries: "states", around: false },
      { start: "network", end: "agents", carries: "policies", around: false },
    ],
    groups: [],
    ...changes,
  };
}

function open(diagram: PaperDiagram | Response, at = "/papers/a3c/figure-2") {
  const server = serve({
    "GET /papers/a3c/figure-2": aPaperItem({ measures: "", parts: [], diagrams: ["ga3c"] }),
    "GET /papers/a3c/figure-2/diagrams/ga3c": diagram,
  });
  renderPage(<ItemPage />, { at, path: "/papers/:paper/:item" });
  return server;
}

const card = async () => within(await screen.findByRole("region", { name: "GA3C: queues" }));

describe("a diagram of a paper's architecture", () => {
  it("draws boxes with a run's numbers, and lists them as text", async () => {
    open(aDiagram());
    const shown = await card();
    const drawing = within(
      shown.getByRole("img", { name: /^GA3C: queues\. The parts and arrows are listed/ }),
    );
    for (const text of ["Agents", "N_A", "16", "Network", "mlp", "42 %", "–", "states"])
      expect(drawing.getByText(text)).toBeTruthy();
    const arrows = within(shown.getByRole("list", { name: "Arrows" })).getAllByRole("listitem");
    expect(arrows.map(({ textContent }) => textContent)).toEqual([
      "Agents → Network: states",
      "Network → Agents: policies",
    ]);
    const parts = within(shown.getByRole("group", { name: "Parts" }));
    expect(
      parts.getByRole("row", { name: /^Network.* Act\. .*Body ?mlp.*Time in it ?42 %.*Policy lag ?–/ }),
    ).toBeTruthy();
  });

  it("shows the run in the URL, or a chosen one", async () => {
    const server = open(aDiagram(), "/papers/a3c/figure-2?ga3c=12");
    const shown = await card();
    expect(server.of("GET /papers/a3c/figure-2/diagrams/ga3c").map(({ query }) => query.get("run"))).toEqual([
      "12",
    ]);
    expect(shown.getByRole("link", { name: "Open run 12" }).getAttribute("href")).toBe("/runs/12");
    await userEvent.selectOptions(shown.getByLabelText("Run"), "5 · First (finished)");
    expect(server.of("GET /papers/a3c/figure-2/diagrams/ga3c").at(-1)?.query.get("run")).toBe("5");
  });

  it("links to the launch form if no run has started", async () => {
    open(aDiagram({ run: null, runs: [] }));
    const shown = await card();
    expect(shown.getByText(/No runs yet/)).toBeTruthy();
    expect(shown.getByRole("link", { name: "Launch one" }).getAttribute("href")).toBe(
      "/launch?preset=ga3c-cartpole",
    );
    expect(shown.getByRole("img", { name: /^GA3C: queues/ })).toBeTruthy();
  });

  it("shows errors", async () => {
    open(refusal(404, "There is no run 99."), "/papers/a3c/figure-2?ga3c=99");
    expect(await screen.findByText("There is no run 99.")).toBeTruthy();
  });
});
