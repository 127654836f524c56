import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { ComparedRun, Comparison, Thresholds, Verdict } from "@/api/types";
import { downloads } from "@/testing/downloads";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { type Asked, listOf, refusal, serve } from "@/testing/server";
import ComparePage from "./ComparePage";

const compared = (id: number, name: string, changes: Partial<ComparedRun> = {}): ComparedRun => ({
  ...aRun({ id, name }),
  label: `${name} #${id}`,
  dash: "solid",
  ...changes,
});
const RUNS = [
  compared(1, "slow"),
  compared(2, "fast", { config: { ...aRun().config, seed: 7 } }),
  compared(5, "new one"),
];

const values = (last: number | "NaN", max: number, mean: number) => ({ last, max, mean_last_100: mean });

function comparisonOf(runs: ComparedRun[]): Comparison {
  const named = (...settings: [string | number, string | number]) =>
    Object.fromEntries(runs.map(({ id }, at) => [String(id), settings[at] ?? "other"]));
  return {
    runs,
    differences: [
      {
        field: "learning_rate",
        title: "Learning rate",
        same: runs.length === 1,
        values: named(0.01, 0.5),
        marked: [2],
      },
      { field: "gamma", title: "Discount", same: true, values: named(0.99, 0.99), marked: [] },
    ],
    groups: runs.map(({ id }) => [id]),
    summary: runs.map(({ id }) => ({
      run_id: id,
      episodes: id * 10,
      wall_seconds: id * 60,
      metrics: {
        "episode/return": values(id === 2 ? "NaN" : 5, id === 1 ? 9 : 7, 10 - id),
        "train/custom": values(0.1, 0.2, 0.3),
      },
    })),
  };
}

const group = (name: string, run_ids: number[], n: number, value: number) => ({
  name,
  run_ids,
  n,
  mean: { value, low: n < 3 ? null : value - 2, high: n < 3 ? null : value + 2 },
  missing: Math.max(0, 3 - n),
});
const VERDICT: Verdict = {
  at: 200_000,
  standings: [group("PAAC · lr 0.5", [2], 3, 40), group("PAAC · lr 0.01", [1], 3, 8)],
  duels: [
    {
      best: 0,
      other: 1,
      words: "PAAC · lr 0.5 beats PAAC · lr 0.01 at 200 k steps: +32, 95 % interval [29, 35], n = 3 and 3.",
      shown: true,
      difference: { value: 32, low: 29, high: 35 },
      probability: { value: 0.97, low: 0.9, high: 1 },
    },
  ],
  words: "",
};

const place = (steps: number) => ({ steps, frames: 4 * steps, seconds: steps / 100 });
const TIMES: Thresholds = {
  score: 450,
  common: 450,
  compared_with: 0,
  groups: [
    {
      name: "PAAC · lr 0.01",
      run_ids: [1],
      n: 1,
      reached: 1,
      median: place(12_000),
      speed_up: 1,
      data_efficiency: 1,
      runs: [{ run_id: 1, reached: place(12_000) }],
    },
    {
      name: "PAAC · lr 0.5",
      run_ids: [2],
      n: 1,
      reached: 0,
      median: null,
      speed_up: null,
      data_efficiency: null,
      runs: [{ run_id: 2, reached: null }],
    },
  ],
  words: "",
};

function open(at: string, more: Record<string, object> = {}) {
  const server = serve({
    "GET /compare": ({ query }: Asked) => {
      const ids = query.get("runs")?.split(",").map(Number) ?? [];
      return comparisonOf(RUNS.filter(({ id }) => ids.includes(id)));
    },
    "GET /compare/verdict": VERDICT,
    "GET /compare/thresholds": TIMES,
    "GET /runs": ({ query }: Asked) =>
      listOf(RUNS.filter(({ name }) => name.includes(query.get("text") ?? ""))),
    ...more,
  });
  const { router } = renderPage(<ComparePage />, { at });
  const address = (search: string) => waitFor(() => expect(router.state.location.search).toBe(search));
  return { server, address };
}

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

  it("have an × that is large enough to hit", async () => {
    open("/?runs=1,2");
    const out = await screen.findByLabelText("Take run 1 out");
    expect(
      16 * Number.parseFloat(out.style.getPropertyValue("--cb-size").replace("calc(", "")),
    ).toBeGreaterThanOrEqual(24);
  });

  it("can be taken out", async () => {
    const { address } = open("/?runs=1,2&metric=train/custom");
    await userEvent.click(await screen.findByLabelText("Take run 1 out"));
    await address("?runs=2&metric=train%2Fcustom");
  });

  it("are not offered a second time", async () => {
    open("/?runs=1,2");
    await userEvent.click(screen.getByLabelText("Add a run", { selector: "input" }));
    await screen.findByText(/^new one · /);
    expect(screen.queryByText(/^slow · /)).toBeNull();
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

  it("say why they cannot be compared", async () => {
    open("/?runs=1,99", { "GET /compare": () => refusal(404, "There is no run 99.") });
    expect(await screen.findByText("There is no run 99.")).toBeTruthy();
    expect(screen.getByLabelText("Take run 99 out")).toBeTruthy();
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

describe("runs that differ in the seed alone", () => {
  const compare = { ...comparisonOf(RUNS), groups: [[1, 2], [5]] };
  const box = (name: string) => screen.getByLabelText<HTMLInputElement>(name);

  it("are one group until the switch is turned, which stands in the address", async () => {
    const { address } = open("/?runs=1,2,5", { "GET /compare": compare });
    const group = await screen.findByLabelText<HTMLInputElement>("Group by seed");
    expect(group.checked).toBe(true);
    await userEvent.click(box("Show each seed"));
    await address("?runs=1%2C2%2C5&seeds=1");
    await userEvent.click(group);
    await address("?runs=1%2C2%2C5&seeds=1&group=none");
    expect(screen.queryByLabelText("Show each seed")).toBeNull();
  });

  it("have the band that is chosen", async () => {
    const { address } = open("/?runs=1,2,5&band=range", { "GET /compare": compare });
    const band = await screen.findByLabelText<HTMLInputElement>("Band around the line", {
      selector: "input",
    });
    expect(band.value).toBe("All seeds");
    await userEvent.click(band);
    const offered = await screen.findByRole("listbox", { name: "Band around the line", hidden: true });
    await userEvent.click(await within(offered).findByText("Standard error"));
    await address("?runs=1%2C2%2C5&band=standard-error");
  });

  it("are drawn as their interquartile mean on request", async () => {
    const { address } = open("/?runs=1,2,5", { "GET /compare": compare });
    await choose("Line of a group", "Interquartile mean");
    await address("?runs=1%2C2%2C5&center=iqm");
  });

  it("have no switch where no run has another seed", async () => {
    open("/?runs=1,2");
    await screen.findByRole("region", { name: "Summary" });
    expect(screen.queryByLabelText("Group by seed")).toBeNull();
  });
});

/** What a select offers once it is open; found by its label, since roles take long to find on so large a page. */
async function choose(label: string, option: string) {
  await userEvent.click(await screen.findByLabelText(label, { selector: "input" }));
  const offered = await screen.findByLabelText(label, { selector: "[role=listbox]" });
  await userEvent.click(within(offered).getByText(option));
}

describe("the time to a score", () => {
  const card = () => screen.findByLabelText("Time to a score");

  it("is told of each group, and saved run by run", async () => {
    const saved = downloads();
    open("/?runs=1,2");
    const found = await card();
    const [, ...rows] = [...found.querySelectorAll("tr")].map(({ textContent }) => textContent);
    expect(rows).toEqual(["PAAC · lr 0.011 of 112 k48 k2 min1 ×1 ×", "PAAC · lr 0.50 of 1–––––"]);
    await userEvent.click(within(found).getByText("Save times (CSV)"));
    expect(await saved[0]?.text()).toBe(
      "settings,run,score,steps,frames,seconds\r\nPAAC · lr 0.01,1,450,12000,48000,120\r\nPAAC · lr 0.5,2,450,,,\r\n",
    );
  });

  it("is asked for another score and beside another group, which stand in the address", async () => {
    const { server, address } = open("/?runs=1,2");
    const score = within(await card()).getByLabelText("Score to come to");
    fireEvent.change(score, { target: { value: "200" } });
    fireEvent.keyDown(score, { key: "Enter" });
    await address("?runs=1%2C2&score=200");
    await choose("Compared with", "Beside PAAC · lr 0.5");
    await address("?runs=1%2C2&score=200&to=2");
    await waitFor(() =>
      expect(Object.fromEntries(server.of("GET /compare/thresholds").at(-1)?.query ?? [])).toEqual({
        runs: "1,2",
        score: "200",
        to: "2",
      }),
    );
  });
});

describe("runs grouped by settings", () => {
  it("are so in every answer, and in the address", async () => {
    const differing = (field: string, title: string) => ({
      field,
      title,
      same: false,
      values: { 1: 1, 2: 2 },
      marked: [2],
    });
    const differences = [
      differing("seed", "Seed"),
      differing("gamma", "Discount"),
      differing("t_max", "Rollout"),
    ];
    const { address, server } = open("/?runs=1,2", {
      "GET /compare": { ...comparisonOf(RUNS), differences },
    });
    await choose("Settings to group by", "Discount");
    await address("?runs=1%2C2&group_by=gamma");
    for (const path of ["/compare", "/compare/verdict", "/compare/thresholds"]) {
      await waitFor(() => expect(server.of(`GET ${path}`).at(-1)?.query.get("group_by")).toBe("gamma"));
    }
    const offered = screen.getByLabelText("Settings to group by", { selector: "[role=listbox]" });
    expect(within(offered).getByText("Rollout")).toBeTruthy();
    expect(within(offered).queryByText("Seed")).toBeNull();
  });
});

describe("the verdict", () => {
  const verdict = async () => within(await screen.findByRole("region", { name: "Verdict" }));

  it("says which settings are best, and how sure that is", async () => {
    open("/?runs=1,2");
    const card = await verdict();
    expect(card.getByText(/beats PAAC · lr 0.01 at 200 k steps: \+32, 95 % interval/)).toBeTruthy();
    const [, ...rows] = card.getAllByRole("row").map(({ textContent }) => textContent);
    expect(rows).toEqual(["PAAC · lr 0.534038 to 42–Add 3 seeds", "PAAC · lr 0.01386 to 1097 %Add 3 seeds"]);
  });

  it("launches more seeds of some settings and compares them too", async () => {
    let next = 20;
    const { server, address } = open("/?runs=1,2", {
      "POST /runs/2/clone": ({ body }: Asked) => aRun({ id: (next += 1), config: { ...Object(body) } }),
    });
    await userEvent.click((await verdict()).getByRole("button", { name: "Add 3 seeds of PAAC · lr 0.5" }));
    await address("?runs=1%2C2%2C21%2C22%2C23");
    expect(server.of("POST /runs/2/clone").map(({ body }) => body)).toEqual(
      [8, 9, 10].map((seed) => ({ name: "fast", overrides: { seed } })),
    );
    expect(await screen.findByText("3 runs of PAAC · lr 0.5 launched: #21, #22, #23")).toBeTruthy();
  });

  it("says why there is nothing to compare", async () => {
    const words = "Returns of different games are not compared.";
    open("/?runs=1,2", { "GET /compare/verdict": { at: null, standings: [], duels: [], words } });
    expect(await (await verdict()).findByText(words)).toBeTruthy();
  });

  it("is none of one run", async () => {
    const { server } = open("/?runs=1");
    await summary();
    expect(server.of("GET /compare/verdict")).toEqual([]);
    expect(screen.queryByRole("region", { name: "Verdict" })).toBeNull();
  });
});
