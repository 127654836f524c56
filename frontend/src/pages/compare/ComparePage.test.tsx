import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { compared, comparisonOf, openComparison, RUNS } from "@/testing/comparisons";
import { downloads } from "@/testing/downloads";
import { type Asked, refusal } from "@/testing/server";
import ComparePage from "./ComparePage";

const open = (at: string, more?: Record<string, object>) => openComparison(<ComparePage />, at, more);

const summary = async () => within(await screen.findByRole("region", { name: "Summary" }));
const differences = async () =>
  within(await screen.findByRole("region", { name: "Differences of the configurations" }));

describe("the runs compared", () => {
  it("are asked for when there are none", async () => {
    const { server } = open("/");
    expect(await screen.findByText("Choose the runs to compare")).toBeTruthy();
    expect(server.of("GET /compare")).toEqual([]);
  });

  it("are found by the server's search and stand in the address", async () => {
    const { address, server } = open("/?runs=1");
    await userEvent.type(screen.getByLabelText("Add a run", { selector: "input" }), "new");
    await waitFor(() => expect(server.of("GET /runs").at(-1)?.query.get("text")).toBe("new"));
    await userEvent.click(await screen.findByText(/^new one · /));
    await address("?runs=1%2C5");
    await waitFor(() => expect(document.title).toBe("Compare 1, 5 · Arcadia"));
  });

  it("are added as a range of numbers", async () => {
    const { address } = open("/?runs=1");
    await userEvent.type(screen.getByLabelText("Add a run", { selector: "input" }), "1-2, 5");
    await userEvent.click(await screen.findByText("Runs 1-2, 5: 2"));
    await address("?runs=1%2C2%2C5");
  });

  it("have an × that is large enough to hit", async () => {
    open("/?runs=1,2");
    const out = await screen.findByLabelText("Remove run 1 from the comparison");
    expect(
      16 * Number.parseFloat(out.style.getPropertyValue("--cb-size").replace("calc(", "")),
    ).toBeGreaterThanOrEqual(24);
  });

  it("can be taken out", async () => {
    const { address } = open("/?runs=1,2&metric=train/custom");
    await userEvent.click(await screen.findByLabelText("Remove run 1 from the comparison"));
    await address("?runs=2&metric=train%2Fcustom");
  });

  it("are not offered a second time", async () => {
    open("/?runs=1,2");
    await userEvent.click(screen.getByLabelText("Add a run", { selector: "input" }));
    await screen.findByText(/^new one · /);
    expect(screen.queryByText(/^slow · /)).toBeNull();
  });

  it("say why no other run can be found", async () => {
    open("/?runs=1,2", { "GET /runs": () => refusal(500, "The list is away.") });
    await userEvent.click(screen.getByLabelText("Add a run", { selector: "input" }));
    expect(await screen.findByText("The list is away.")).toBeTruthy();
    expect(screen.queryByText("No runs found")).toBeNull();
  });

  it("ask for no other run until one is looked for", async () => {
    const { server } = open("/?runs=1,2");
    await screen.findByRole("region", { name: "Summary" });
    expect([...new Set(server.asked.map(({ path }) => path))].sort()).toEqual([
      "/compare",
      "/compare/thresholds",
      "/compare/verdict",
      "/metric-catalogue",
    ]);
  });

  it("are compared without those that do not exist, which are named", async () => {
    const { address } = open("/?runs=99,1,2", {
      "GET /compare": { ...comparisonOf(RUNS.slice(0, 2)), missing: [99] },
    });
    expect(await screen.findByText("Run 99 does not exist")).toBeTruthy();
    expect((await summary()).getByText(/slow/)).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Remove from comparison" }));
    await address("?runs=1%2C2");
  });

  it("say why they cannot be compared", async () => {
    open("/?runs=1,99", { "GET /compare": () => refusal(404, "There is no run 99.") });
    expect(await screen.findByText("There is no run 99.")).toBeTruthy();
    expect(screen.getByLabelText("Remove run 99 from the comparison")).toBeTruthy();
  });

  it("say that one of them was purged meanwhile, and go on without it", async () => {
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

  it("show what differs, and what is the same on request", async () => {
    open("/?runs=1,2");
    expect(await rows()).toEqual(["Settingslow#1fast#2", "Learning rate0.010.5"]);
    await userEvent.click((await differences()).getByLabelText("Show 1 identical setting"));
    expect(await rows()).toEqual(["Settingslow#1fast#2", "Learning rate0.010.5", "Discount0.990.99"]);
  });

  it("mark only the cells that are not as most", async () => {
    open("/?runs=1,2");
    const table = await differences();
    expect(table.getByText("0.5").title).toBe("Not as in most runs");
    expect(table.getByText("0.01").title).toBe("");
  });

  it("put runs that differ in the seed alone into one column, and say what a method lacks", async () => {
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
    expect(table.getAllByTitle("Not as in most runs").map(({ textContent }) => textContent)).toEqual(["0.9"]);
    const [, second] = table.getAllByRole("columnheader")[1]?.querySelectorAll("line") ?? [];
    expect(second?.getAttribute("stroke")).toBe("#00ff00");
    expect(second?.getAttribute("stroke-dasharray")).toBe("12 4 2 4 2 4");
    await userEvent.click(table.getByLabelText("Show 1 identical setting"));
    expect(table.getByTitle("GA3C has no such setting.").textContent).toBe("–");
  });

  it("say what to do where one run stands alone", async () => {
    open("/?runs=1");
    expect(await screen.findByText("Add another run to see what differs.")).toBeTruthy();
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

  it("stands best mean first, and a click sorts by another column", async () => {
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

  it("tells of the metric in the address", async () => {
    open("/?runs=1&metric=train/custom");
    expect((await rows())[0]?.slice(1, 4)).toEqual(["0.1", "0.2", "0.3"]);
  });

  it("tells of another metric on request, which then stands in the address", async () => {
    const { address } = open("/?runs=1&metric=episode/return");
    const metric = await (await summary()).findByLabelText("Metric of the summary", { selector: "input" });
    await userEvent.click(metric);
    const offered = await screen.findByRole("listbox", { name: "Metric of the summary", hidden: true });
    await userEvent.click(await within(offered).findByText("Custom"));
    await address("?runs=1&metric=episode%2Freturn&summary=train%2Fcustom");
    expect((await rows())[0]?.slice(1, 4)).toEqual(["0.1", "0.2", "0.3"]);
  });

  it("tells of the summary's metric in the address", async () => {
    open("/?runs=1&metric=episode/return&summary=train/custom");
    expect((await rows())[0]?.slice(1, 4)).toEqual(["0.1", "0.2", "0.3"]);
  });

  it("is saved with all metrics", async () => {
    const saved = downloads();
    open("/?runs=1,2");
    await userEvent.click((await summary()).getByText("Save all metrics (CSV)"));
    await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["compare-1-2.csv"]));
    const text = (await saved[0]?.text()) ?? "";
    expect(text.trim().split("\r\n")).toHaveLength(5);
    expect(text).toContain("\r\n2,fast,running,episode/return,NaN,7,8,20,120\r\n");
  });
});

describe("the curves", () => {
  it("are those that one of the runs has, and stand in the address", async () => {
    const { address } = open("/?runs=1,2");
    await userEvent.click(await screen.findByLabelText("Metrics shown", { selector: "input" }));
    const offered = await screen.findByRole("listbox", { name: "Metrics shown", hidden: true });
    await userEvent.click(await within(offered).findByText("Custom"));
    await address("?runs=1%2C2&metric=episode%2Freturn%2Ctrain%2Fcustom");
    expect(screen.getByLabelText("Menu of the chart Custom")).toBeTruthy();
  });
});
