import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { compared, comparisonOf, openComparison, RUNS } from "@/testing/comparisons";
import { downloads } from "@/testing/downloads";
import { aMark } from "@/testing/marks";
import { renderPage } from "@/testing/render";
import { type Asked, refusal, serve } from "@/testing/server";
import { CompareMarks } from "./CompareCurves";
import ComparePage from "./ComparePage";

const open = (at: string, more?: Record<string, object>) => openComparison(<ComparePage />, at, more);

const summary = async () => within(await screen.findByRole("region", { name: "Summary" }));
const differences = async () =>
  within(await screen.findByRole("region", { name: "Configuration differences" }));

describe("the compared runs", () => {
  it("must be chosen first", async () => {
    const { server } = open("/");
    expect(await screen.findByText("Choose runs to compare")).toBeTruthy();
    expect(server.of("GET /compare")).toEqual([]);
  });

  it("are found by search and stored in the URL", async () => {
    const { address, server } = open("/?runs=1");
    await userEvent.type(screen.getByLabelText("Add a run", { selector: "input" }), "new");
    await waitFor(() => expect(server.of("GET /runs").at(-1)?.query.get("text")).toBe("new"));
    await userEvent.click(await screen.findByText(/^new one · /));
    await address("?runs=1%2C5");
    await waitFor(() => expect(document.title).toBe("Compare 1, 5 · Arcadia"));
  });

  it("can be added as a range", async () => {
    const { address } = open("/?runs=1");
    await userEvent.type(screen.getByLabelText("Add a run", { selector: "input" }), "1-2, 5");
    await userEvent.click(await screen.findByText("Runs 1-2, 5: 2"));
    await address("?runs=1%2C2%2C5");
  });

  it("have a large enough remove button", async () => {
    open("/?runs=1,2");
    const out = await screen.findByLabelText("Remove run 1 from the comparison");
    expect(
      16 * Number.parseFloat(out.style.getPropertyValue("--cb-size").replace("calc(", "")),
    ).toBeGreaterThanOrEqual(24);
  });

  it("can be removed", async () => {
    const { address } = open("/?runs=1,2&metric=train/custom");
    await userEvent.click(await screen.findByLabelText("Remove run 1 from the comparison"));
    await address("?runs=2&metric=train%2Fcustom");
  });

  it("are one line if they are many, until all are requested", async () => {
    const many = Array.from(
      { length: 9 },
      (_, at) => ({ ...RUNS[at % 2], id: at + 1 }) as (typeof RUNS)[number],
    );
    open("/?runs=1-9", { "GET /compare": comparisonOf(many) });
    const picker = within(screen.getByRole("group", { name: "Compared runs" }));
    const method = RUNS[0]?.method;
    expect(await picker.findByText(new RegExp(`^9 runs: ${method} 9`))).toBeTruthy();
    expect(picker.queryByLabelText(/^Remove run/)).toBeNull();
    await userEvent.click(picker.getByRole("button", { name: "Show all" }));
    expect(picker.getAllByLabelText(/^Remove run/)).toHaveLength(9);
    expect(document.title).toBe("Compare 9 runs · Arcadia");
  });

  it("are not offered again", async () => {
    open("/?runs=1,2");
    await userEvent.click(screen.getByLabelText("Add a run", { selector: "input" }));
    await screen.findByText(/^new one · /);
    expect(screen.queryByText(/^slow · /)).toBeNull();
  });

  it("show why the search failed", async () => {
    open("/?runs=1,2", { "GET /runs": () => refusal(500, "The list is away.") });
    await userEvent.click(screen.getByLabelText("Add a run", { selector: "input" }));
    expect(await screen.findByText("The list is away.")).toBeTruthy();
    expect(screen.queryByText("No runs found")).toBeNull();
  });

  it("show the errors of their critics if any was calibrated", async () => {
    const { server } = open("/?runs=1,2", {
      "GET /figures/calibrations": {
        data: [{ x: [1], y: [2], uid: "a" }],
        layout: {},
        cursor: null,
        missing: [],
      },
    });
    const critics = within(await screen.findByRole("region", { name: "Critics" }));
    await userEvent.click(critics.getByRole("radio", { name: "Regret" }));
    expect(critics.getByText("Regret of the chosen action")).toBeTruthy();
    expect(server.of("GET /figures/calibrations")[0]?.query.get("runs")).toBe("1,2");
  });

  it("fetch no other runs before a search", async () => {
    const { server } = open("/?runs=1,2");
    await screen.findByRole("region", { name: "Summary" });
    expect([...new Set(server.asked.map(({ path }) => path))].sort()).toEqual([
      "/compare",
      "/compare/thresholds",
      "/compare/verdict",
      "/figures/calibrations",
      "/metric-catalog",
    ]);
  });

  it("exclude and name runs that do not exist", async () => {
    const { address } = open("/?runs=99,1,2", {
      "GET /compare": { ...comparisonOf(RUNS.slice(0, 2)), missing: [99] },
    });
    expect(await screen.findByText("Run 99 does not exist")).toBeTruthy();
    expect((await summary()).getByText(/slow/)).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Remove from comparison" }));
    await address("?runs=1%2C2");
  });

  it("show why they cannot be compared", async () => {
    open("/?runs=1,99", { "GET /compare": () => refusal(404, "There is no run 99.") });
    expect(await screen.findByText("There is no run 99.")).toBeTruthy();
    expect(screen.getByLabelText("Remove run 99 from the comparison")).toBeTruthy();
  });

  it("show that one was purged, and continue without it", async () => {
    let there = true;
    const { client } = open("/?runs=1,2", {
      "GET /compare": ({ query }: Asked) =>
        there || query.get("runs") === "1"
          ? comparisonOf(RUNS.filter(({ id }) => query.get("runs")?.includes(String(id))))
          : refusal(404, "There is no run 2."),
    });
    await screen.findByRole("region", { name: "Summary" });
    there = false;
    await client.invalidateQueries();
    expect(await screen.findByText("There is no run 2.")).toBeTruthy();
    expect(screen.queryByRole("region", { name: "Summary" })).toBeNull();
    await userEvent.click(screen.getByLabelText("Remove run 2 from the comparison"));
    expect(await screen.findByRole("region", { name: "Summary" })).toBeTruthy();
    expect(screen.queryByText("There is no run 2.")).toBeNull();
  });
});

describe("the configurations", () => {
  const rows = async () => (await differences()).getAllByRole("row").map(({ textContent }) => textContent);

  it("show differences, and identical settings on request", async () => {
    open("/?runs=1,2");
    expect(await rows()).toEqual(["Settingslow#1fast#2", "Learning rate0.010.5"]);
    await userEvent.click((await differences()).getByLabelText("Show 1 identical setting"));
    expect(await rows()).toEqual(["Settingslow#1fast#2", "Learning rate0.010.5", "Discount0.990.99"]);
  });

  it("mark only values that differ from most runs", async () => {
    open("/?runs=1,2");
    const table = await differences();
    expect(table.getByText("0.5").title).toBe("Differs from most runs");
    expect(table.getByText("0.01").title).toBe("");
  });

  it("show runs that differ only in the seed in one column, and settings that a method lacks", async () => {
    const three = [
      compared(1, "seeds"),
      compared(2, "seeds", { color: "#00ff00", dash: "12px,4px,2px,4px,2px,4px" }),
      compared(5, "other", { method: "GA3C" }),
    ];
    open("/?runs=1,2,5", {
      "GET /compare": {
        ...comparisonOf(three),
        groups: [[1, 2], [5]],
        differences: [
          { field: "seed", title: "Seed", same: false, values: { 1: 7, 2: 8, 5: 7 }, marked: [2] },
          {
            field: "gamma",
            title: "Discount",
            same: false,
            values: { 1: 0.99, 2: 0.99, 5: 0.9 },
            marked: [5],
          },
          { field: "t_max", title: "Rollout", same: true, values: { 1: 5, 2: 5 }, marked: [] },
        ],
      },
    });
    expect(await rows()).toEqual(["Settingseeds#1seeds#2other#5", "Seed7, 87", "Discount0.990.9"]);
    const table = await differences();
    expect(table.getAllByTitle("Differs from most runs").map(({ textContent }) => textContent)).toEqual([
      "0.9",
    ]);
    const [, second] = table.getAllByRole("columnheader")[1]?.querySelectorAll("line") ?? [];
    expect(second?.getAttribute("stroke")).toBe("#00ff00");
    expect(second?.getAttribute("stroke-dasharray")).toBe("12 4 2 4 2 4");
    await userEvent.click(table.getByLabelText("Show 1 identical setting"));
    expect(table.getByTitle("GA3C does not have this setting.").textContent).toBe("–");
  });

  it("explain what to do with a single run", async () => {
    open("/?runs=1");
    expect(await screen.findByText("Add another run to see differences.")).toBeTruthy();
  });
});

describe("the provenances", () => {
  it("are not shown if they agree", async () => {
    open("/?runs=1,2");
    await differences();
    expect(screen.queryByRole("region", { name: "Provenance differences" })).toBeNull();
  });

  it("show what differs, also between runs that differ only in the seed", async () => {
    open("/?runs=1,2,5", {
      "GET /compare": {
        ...comparisonOf(RUNS),
        groups: [[1, 2, 5]],
        provenance: [
          { field: "host", title: "Host", same: false, values: { 1: "sun", 2: "moon" }, marked: [2] },
        ],
      },
    });
    const table = within(await screen.findByRole("region", { name: "Provenance differences" }));
    expect(table.getAllByRole("row").at(-1)?.textContent).toBe("Hostsunmoon–");
    expect(table.getByText("moon").title).toBe("Differs from most runs");
    expect(table.getByText("–").title).toBe("Not recorded");
  });

  it("show eight facts at first", async () => {
    const provenance = Array.from({ length: 60 }, (_, number) => ({
      field: `package.${number}`,
      title: `Package ${number}`,
      same: false,
      values: { 1: "1.0", 2: "2.0" },
      marked: [2],
    }));
    open("/?runs=1,2", { "GET /compare": { ...comparisonOf(RUNS), provenance } });
    const table = within(await screen.findByRole("region", { name: "Provenance differences" }));
    expect(table.getAllByRole("row")).toHaveLength(9);
    await userEvent.click(table.getByRole("button", { name: "Show all 60 differences" }));
    expect(table.getAllByRole("row")).toHaveLength(61);
    await userEvent.click(table.getByRole("button", { name: "Show fewer" }));
    expect(table.getAllByRole("row")).toHaveLength(9);
  });
});

describe("the summary", () => {
  const rows = async () => {
    const [, ...found] = (await summary()).getAllByRole("row");
    return found.map((row) =>
      within(row)
        .getAllByRole("cell")
        .map(({ textContent }) => textContent),
    );
  };

  it("is sorted by mean, and by other columns on click", async () => {
    open("/?runs=2,1");
    expect(await rows()).toEqual([
      ["slow#1", "5", "9", "9", "10", "1 min"],
      ["fast#2", "NaN", "7", "8", "20", "2 min"],
    ]);
    await userEvent.click((await summary()).getByText(/^Duration/));
    expect((await rows()).map(([run]) => run)).toEqual(["fast#2", "slow#1"]);
    await userEvent.click((await summary()).getByText(/^Duration/));
    expect((await rows()).map(([run]) => run)).toEqual(["slow#1", "fast#2"]);
    const sorted = (await summary()).getByRole("columnheader", { name: /Duration/ });
    expect(sorted.getAttribute("aria-sort")).toBe("ascending");
  });

  it("shows the metric in the URL", async () => {
    open("/?runs=1&metric=train/custom");
    expect((await rows())[0]?.slice(1, 4)).toEqual(["0.1", "0.2", "0.3"]);
  });

  it("can show another metric, which is stored in the URL", async () => {
    const { address } = open("/?runs=1&metric=episode/return");
    const metric = await (await summary()).findByLabelText("Summary metric", { selector: "input" });
    await userEvent.click(metric);
    const offered = await screen.findByRole("listbox", { name: "Summary metric", hidden: true });
    await userEvent.click(await within(offered).findByText("Custom"));
    await address("?runs=1&metric=episode%2Freturn&summary=train%2Fcustom");
    expect((await rows())[0]?.slice(1, 4)).toEqual(["0.1", "0.2", "0.3"]);
  });

  it("reads the summary's metric from the URL", async () => {
    open("/?runs=1&metric=episode/return&summary=train/custom");
    expect((await rows())[0]?.slice(1, 4)).toEqual(["0.1", "0.2", "0.3"]);
  });

  it("can be downloaded with all metrics", async () => {
    const saved = downloads();
    open("/?runs=1,2");
    await userEvent.click((await summary()).getByText("Download all metrics (CSV)"));
    await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["compare-runs-1-2.csv"]));
    const text = (await saved[0]?.text()) ?? "";
    expect(text.trim().split("\r\n")).toHaveLength(5);
    expect(text).toContain("\r\n2,fast,running,episode/return,NaN,7,8,20,120\r\n");
  });
});

describe("the curves", () => {
  it("are those of any run, and are stored in the URL", async () => {
    const { address } = open("/?runs=1,2");
    await userEvent.click(await screen.findByLabelText("Metrics shown", { selector: "input" }));
    const offered = await screen.findByRole("listbox", { name: "Metrics shown", hidden: true });
    await userEvent.click(await within(offered).findByText("Custom"));
    await address("?runs=1%2C2&metric=episode%2Freturn%2Ctrain%2Fcustom");
    expect(screen.getByLabelText("Menu of the chart Custom")).toBeTruthy();
  });
});

describe("marks of the compared runs", () => {
  const change = aMark({ kind: "change", title: "Learning rate 0.01 → 0.001", detail: "By ana@box (CLI)" });

  it("are fetched only once they are switched on", async () => {
    const { server, address } = open("/?runs=1,2", {
      "GET /marks": [{ run_id: 2, marks: [change] }],
      "GET /figures/curves": { data: [], layout: {}, cursor: "", complete: true },
    });
    const marks = await screen.findByRole("switch", { name: "Marks" });
    expect(server.of("GET /marks")).toEqual([]);
    await userEvent.click(marks);
    await address("?runs=1%2C2&marks=1");
  });

  it("name their runs", async () => {
    const server = serve({ "GET /marks": [{ run_id: 2, marks: [change] }] });
    const area = { left: 0, width: 400, from: 0, to: 2000, log: false };
    renderPage(<CompareMarks runs={[1, 2]} known={RUNS} axis="step" area={area} />);
    await userEvent.click(
      await screen.findByRole("button", { name: /^Learning rate 0.01 → 0.001 at 1 k steps/ }),
    );
    expect(await screen.findByText("fast #2: By ana@box (CLI)")).toBeTruthy();
    expect(screen.getByRole("link", { name: "Open run 2" })).toBeTruthy();
    expect(server.of("GET /marks").map(({ query }) => query.get("runs"))).toEqual(["1,2"]);
  });
});
