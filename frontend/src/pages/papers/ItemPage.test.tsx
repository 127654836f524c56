import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { PaperItem } from "@/api/types";
import { downloads } from "@/testing/downloads";
import { aPaperItem } from "@/testing/papers";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import ItemPage from "./ItemPage";

const PREVIEW = {
  studies: 1,
  runs: 50,
  steps: 4e7,
  frames: 16e7,
  seconds: 7200,
  concurrent_runs: 1,
  unmeasured: [],
  estimated: [] as string[],
  confirm: null as string | null,
  too_short: null as string | null,
  refused: null,
};

const FIGURE = {
  data: [{ name: "A3C &lt;1&gt;", x: [0.001, 0.01], y: [20, 5], hovertext: ["20 at 0.001", "5 at 0.01"] }],
  layout: {},
};

function open(item: PaperItem, preview: Partial<typeof PREVIEW> | { refused: string } | Response = {}) {
  const server = serve({
    "GET /papers/a3c/figure-2": item,
    "GET /papers/a3c/figure-2/figure": FIGURE,
    "POST /papers/a3c/figure-2/preview": preview instanceof Response ? preview : { ...PREVIEW, ...preview },
    "POST /papers/a3c/figure-2/studies": [],
    "POST /papers/a3c/figure-2/measurements": [{ run_id: 7, kind: "A3C on Pong" }],
  });
  renderPage(<ItemPage />, { at: "/papers/a3c/figure-2", path: "/papers/:paper/:item" });
  return server;
}

const region = (name: string) => screen.findByRole("region", { name });

describe("the page of a paper's figure", () => {
  it("shows what the paper did, what Arcadia does, the differences and the published numbers", async () => {
    open(aPaperItem());
    expect((await region("The paper")).textContent).toContain("Trained it on 16 cores.");
    expect((await region("Arcadia")).textContent).toContain("Trains it here.");
    const differs = screen.getByRole("group", { name: "Differences" });
    expect(
      within(differs).getByRole("row", { name: "actor-learners threads – processes Python" }),
    ).toBeTruthy();
    expect(
      within(differs).getByRole("row", { name: /Value loss weight not stated 0\.5 0\.25/ }),
    ).toBeTruthy();
    const printed = screen.getByRole("group", { name: "Published numbers" });
    expect(printed.textContent).toContain("12.5 ×A3C, table 2time to a score");
    expect((await region("Figure")).textContent).toContain("No runs of figure 2 yet");
  });

  it("shows the cost of a share before starting", async () => {
    const server = open(aPaperItem());
    const run = within(await region("Run it"));
    expect(run.getByText(/50 runs, 16 G frames\. Duration unknown/)).toBeTruthy();
    await userEvent.click(run.getByRole("button", { name: "Run at 1 %" }));
    const asked = within(await screen.findByRole("dialog"));
    expect(await asked.findByText(/50 runs, 160 M frames, about 2 h .*on 1 worker/)).toBeTruthy();
    expect(server.of("POST /papers/a3c/figure-2/studies")).toEqual([]);
    await userEvent.click(asked.getByRole("button", { name: "Start 1 study" }));
    const wanted = { share: 0.01, parts: ["pong"] };
    expect(server.of("POST /papers/a3c/figure-2/preview").map(({ body }) => body)).toEqual([wanted]);
    expect(server.of("POST /papers/a3c/figure-2/studies").map(({ body }) => body)).toEqual([
      { ...wanted, confirm_steps: null },
    ]);
  });

  it("requires confirmation for an unknown cost, and suggests a share", async () => {
    const confirm = "the duration is unknown: A3C on Pong has not trained here yet";
    const too_short = "Pong: 4,000 steps per run are too few to show anything. Use 10% of the budget";
    const server = open(aPaperItem(), { confirm, too_short });
    const run = within(await region("Run it"));
    expect(run.getByText(/10 % is the smallest share/)).toBeTruthy();
    await userEvent.click(run.getByRole("button", { name: "Run at 1 %" }));
    const asked = within(await screen.findByRole("dialog"));
    expect(await asked.findByText(/^Pong: 4,000 steps per run are too few/)).toBeTruthy();
    const start = asked.getByRole<HTMLButtonElement>("button", { name: "Start 1 study" });
    expect(start.disabled).toBe(true);
    await userEvent.click(asked.getByRole("checkbox", { name: "Start 40 M steps in 50 runs" }));
    await userEvent.click(start);
    expect(server.of("POST /papers/a3c/figure-2/studies").map(({ body }) => body)).toEqual([
      { share: 0.01, parts: ["pong"], confirm_steps: 4e7 },
    ]);
  });

  it("measures the duration of the chosen parts", async () => {
    const server = open(aPaperItem());
    const run = within(await region("Run it"));
    await userEvent.click(run.getByRole("button", { name: "Measure duration" }));
    const link = await run.findByRole("link", { name: "Measuring A3C on Pong" });
    expect(link.getAttribute("href")).toBe("/runs/7");
    expect(server.of("POST /papers/a3c/figure-2/measurements").map(({ body }) => body)).toEqual([
      { parts: ["pong"] },
    ]);
  });

  it("does not start a refused share", async () => {
    const server = open(aPaperItem(), { refused: "that would take about 3 years" });
    const run = within(await region("Run it"));
    await userEvent.click(run.getByRole("button", { name: "Run all" }));
    const asked = within(await screen.findByRole("dialog"));
    expect((await asked.findByRole("alert")).textContent).toBe("Too large: that would take about 3 years.");
    for (const close of asked.getAllByRole("button", { name: "Close" }).slice(-1))
      await userEvent.click(close);
    expect(server.of("POST /papers/a3c/figure-2/studies")).toEqual([]);
  });

  it("does not start a share if its cost could not be loaded", async () => {
    open(aPaperItem(), refusal(500, "The server is away."));
    await userEvent.click(within(await region("Run it")).getByRole("button", { name: "Run at 1 %" }));
    const asked = within(await screen.findByRole("dialog"));
    expect(await asked.findByText("The server is away.")).toBeTruthy();
    expect(asked.queryByRole("button", { name: /^Start/ })).toBeNull();
  });

  it("shows the budget of our runs, and draws one budget", async () => {
    const panel = (share: 0.01 | 0.1) => ({
      title: "Pong",
      part: "pong",
      share,
      caption: `Ours at ${share * 100} %.`,
    });
    open(aPaperItem({ panels: [panel(0.1), panel(0.01)] }));
    expect((await region("Pong")).textContent).toContain("Ours at 10 %.");
    await userEvent.click(screen.getByRole("radio", { name: "1 %" }));
    expect((await region("Pong")).textContent).toContain("Ours at 1 %.");
  });

  it("draws scores of all runs without a budget choice", async () => {
    const caption = "Ours is the mean of all runs.";
    open(aPaperItem({ panels: [{ title: "Scores", part: null, share: null, caption }] }));
    expect((await region("Scores")).textContent).toContain(caption);
    expect(screen.queryByRole("radiogroup", { name: "Budget share" })).toBeNull();
  });

  it("exports the figure and the published numbers", async () => {
    userEvent.setup();
    const saved = downloads();
    const panels = [{ title: "Pong", part: "pong", share: 0.01 as const, caption: "Ours at 1 %." }];
    open(aPaperItem({ panels }));
    const choose = async (entry: string) => {
      await userEvent.click(await screen.findByLabelText("Menu of the chart Pong"));
      await userEvent.click(await screen.findByText(entry));
    };
    await choose("Download points (CSV)");
    await waitFor(() => expect(saved).toHaveLength(1));
    expect(saved[0]?.name).toBe("a3c-figure-2-pong-0.01.csv");
    expect(await saved[0]?.text()).toBe(
      "curve,x,y,label\r\nA3C <1>,0.001,20,20 at 0.001\r\nA3C <1>,0.01,5,5 at 0.01\r\n",
    );
    await choose("Copy for a notebook");
    const asked = "/api/v1/papers/a3c/figure-2/figure?share=0.01&part=pong";
    await waitFor(async () =>
      expect(await navigator.clipboard.readText()).toContain(`"${window.location.origin}${asked}"`),
    );
    await userEvent.click(screen.getByRole("button", { name: "Download numbers (CSV)" }));
    expect(saved.at(-1)?.name).toBe("a3c-figure-2-published.csv");
    expect(await saved.at(-1)?.text()).toBe(
      'what,value,unit,source,table,protocol\r\n"A3C, 16 threads",12.5,×,A3C,table 2,time to a score\r\n',
    );
  });

  it("shows speeds relative to the environments alone, if measured", async () => {
    const speed = { part: "Pong, arch_nips", share: 0.01 as const };
    const measured = { ...speed, setting: "Environments 32", rate: 250.4, ceiling: 500, of_ceiling: 0.499 };
    const unmeasured = { ...speed, setting: "Environments 16", rate: 100, ceiling: null, of_ceiling: null };
    open(aPaperItem({ speeds: [measured, unmeasured] }));
    const table = within(await screen.findByRole("group", { name: "Speed relative to the environments" }));
    expect(
      table.getByRole("row", { name: "Pong, arch_nips, 1 % Environments 32 250 500 50 %" }),
    ).toBeTruthy();
    expect(
      table.getByRole("row", { name: "Pong, arch_nips, 1 % Environments 16 100 not measured –" }),
    ).toBeTruthy();
    expect(table.getByText(/1 setting did not measure this\. Run the part again/)).toBeTruthy();
  });

  it("shows hosts next to the paper's as text", async () => {
    const rows = [
      ["The paper: I", "16"],
      ["Here: sun", "2"],
    ];
    open(
      aPaperItem({
        measures: "",
        table: { title: "Systems", columns: ["System", "Cores"], rows, note: "So far." },
      }),
    );
    const table = within(await screen.findByRole("group", { name: "Systems" }));
    expect(table.getByRole("row", { name: "The paper: I 16" })).toBeTruthy();
    expect(table.getByRole("row", { name: "Here: sun 2" })).toBeTruthy();
    expect(table.getByText("So far.")).toBeTruthy();
  });

  it("explains what Arcadia does not run, with a link to an alternative", async () => {
    const substitute = {
      env: "Arcadia/CarRacing-v0",
      title: "Car Racing",
      why: "It is driven from pictures, too.",
    };
    open(aPaperItem({ parts: [], unavailable_reason: "TORCS is no part of Arcadia.", substitute }));
    expect(await screen.findByText("TORCS is no part of Arcadia.")).toBeTruthy();
    const link = screen.getByRole("link", { name: "Launch a run in Car Racing" });
    expect(link.getAttribute("href")).toBe("/launch?env=Arcadia%2FCarRacing-v0");
    expect(screen.getByText(/It is driven from pictures, too/)).toBeTruthy();
    expect(screen.queryByRole("region", { name: "Run it" })).toBeNull();
  });
});
