import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { MAX_RUNS } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import { comparisonOf, openComparison, RUNS, TIMES, VERDICT } from "@/testing/comparisons";
import { downloads } from "@/testing/downloads";
import { aCheckpoint } from "@/testing/files";
import { aRun } from "@/testing/runs";
import { type Asked, refusal } from "@/testing/server";
import ComparePage from "./ComparePage";

const open = (at: string, more?: Record<string, object>) => openComparison(<ComparePage />, at, more);

describe("runs that differ only in the seed", () => {
  const compare = { ...comparisonOf(RUNS), groups: [[1, 2], [5]] };
  const box = (name: string) => screen.getByLabelText<HTMLInputElement>(name);

  it("are one group unless the switch in the URL is off", async () => {
    const { address } = open("/?runs=1,2,5", { "GET /compare": compare });
    const group = await screen.findByLabelText<HTMLInputElement>("Group by seed");
    expect(group.checked).toBe(true);
    await userEvent.click(box("Show each seed"));
    await address("?runs=1%2C2%2C5&seeds=1");
    await userEvent.click(group);
    await address("?runs=1%2C2%2C5&seeds=1&group=none");
    expect(screen.queryByLabelText("Show each seed")).toBeNull();
  });

  it("have the chosen band", async () => {
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

  it("can be drawn as their interquartile mean", async () => {
    const { address } = open("/?runs=1,2,5", { "GET /compare": compare });
    await choose("Line of a group", "Interquartile mean");
    await address("?runs=1%2C2%2C5&center=iqm");
  });

  it("have no switch if no runs differ in the seed", async () => {
    open("/?runs=1,2");
    await screen.findByRole("region", { name: "Summary" });
    expect(screen.queryByLabelText("Group by seed")).toBeNull();
  });
});

/** Open a select by its label and choose an option. Queries by role are slow on such a large page. */
async function choose(label: string, option: string) {
  await userEvent.click(await screen.findByLabelText(label, { selector: "input" }));
  const offered = await screen.findByLabelText(label, { selector: "[role=listbox]" });
  await userEvent.click(within(offered).getByText(option));
}

describe("the time to a score", () => {
  const card = () => screen.findByLabelText("Time to a score");

  it("is shown per group and downloaded per run", async () => {
    const saved = downloads();
    open("/?runs=1,2");
    const found = await card();
    const [, ...rows] = [...found.querySelectorAll("tr")].map(({ textContent }) => textContent);
    expect(rows).toEqual(["PAAC · lr 0.011 of 112 k48 k2 min1 ×1 ×", "PAAC · lr 0.50 of 1–––––"]);
    await userEvent.click(within(found).getByText("Download times (CSV)"));
    expect(await saved[0]?.text()).toBe(
      "settings,run,score,steps,frames,seconds\r\nPAAC · lr 0.01,1,450,12000,48000,120\r\nPAAC · lr 0.5,2,450,,,\r\n",
    );
  });

  it("has no time for forks, with the reason", async () => {
    const [own, forked] = TIMES.groups;
    const place = { steps: 9000, frames: 36_000, seconds: null };
    const groups = [own, { ...forked, median: place, data_efficiency: 1.5, untimed_reason: "it has forks" }];
    open("/?runs=1,2", { "GET /compare/thresholds": { ...TIMES, groups } });
    const found = await card();
    expect([...found.querySelectorAll("tr")].at(-1)?.textContent).toBe("PAAC · lr 0.50 of 19 k36 k––1.5 ×");
    expect(found.textContent).toContain("PAAC · lr 0.5 has no time or speed-up: it has forks.");
    expect(found.textContent).not.toContain("PAAC · lr 0.01 has no time");
  });

  it("can use another score and reference group, both in the URL", async () => {
    const { server, address } = open("/?runs=1,2");
    const score = within(await card()).getByLabelText("Target score");
    fireEvent.change(score, { target: { value: "200" } });
    fireEvent.keyDown(score, { key: "Enter" });
    await address("?runs=1%2C2&score=200");
    await choose("Compared with", "Compared with PAAC · lr 0.5");
    await address("?runs=1%2C2&score=200&to=2");
    await waitFor(() =>
      expect(Object.fromEntries(server.of("GET /compare/thresholds").at(-1)?.query ?? [])).toEqual({
        runs: "1,2",
        score: "200",
        to: "2",
      }),
    );
  });

  it("keeps the typed score while live runs change the default", async () => {
    let score = 450;
    const { client, address } = open("/?runs=1,2", {
      "GET /compare/thresholds": () => ({ ...TIMES, score, common: score }),
    });
    const input = within(await card()).getByLabelText<HTMLInputElement>("Target score");
    expect(input.value).toBe("450");
    await userEvent.clear(input);
    await userEvent.type(input, "20");
    score = 460;
    await client.invalidateQueries();
    await screen.findByText(/460 is the best/);
    expect(input.isConnected).toBe(true);
    await userEvent.type(input, "0{Enter}");
    await address("?runs=1%2C2&score=200");
  });

  it("shows why it could not be loaded", async () => {
    open("/?runs=1,2", { "GET /compare/thresholds": () => refusal(500, "The times are away.") });
    expect(await within(await card()).findByText("The times are away.")).toBeTruthy();
  });

  it("is not available for runs of several games", async () => {
    const runs = RUNS.map((run, at) => ({ ...run, env: at === 1 ? "ALE/Breakout-v5" : run.env }));
    const words = "Returns in different environments cannot be compared.";
    open("/?runs=1,2,5", {
      "GET /compare": comparisonOf(runs),
      "GET /compare/thresholds": { ...TIMES, score: null, common: null, groups: [], message: words },
    });
    const found = await card();
    expect(within(found).getByText(words)).toBeTruthy();
    expect(within(found).queryByLabelText("Target score")).toBeNull();
  });
});

describe("runs grouped by settings", () => {
  it("are grouped in all requests and in the URL", async () => {
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

  it("shows the best settings and their probability", async () => {
    open("/?runs=1,2");
    const card = await verdict();
    expect(card.getByText(/beats PAAC · lr 0.01 at 200 k steps: \+32, 95 % interval/)).toBeTruthy();
    const [, ...rows] = card.getAllByRole("row").map(({ textContent }) => textContent);
    expect(rows).toEqual(["PAAC · lr 0.534038 to 42–Add 3 seeds", "PAAC · lr 0.01386 to 1097 %Add 3 seeds"]);
  });

  it("shows no probability beside a difference that is not shown", async () => {
    const pairs = VERDICT.pairs.map((pair) => ({ ...pair, significant: false }));
    open("/?runs=1,2", { "GET /compare/verdict": { ...VERDICT, pairs } });
    expect((await verdict()).queryByText(/97 %/)).toBeNull();
  });

  it("says how many runs have failed", async () => {
    const [best, other] = VERDICT.standings;
    open("/?runs=1,2", {
      "GET /compare/verdict": { ...VERDICT, standings: [{ ...best, failed: 2 }, other] },
    });
    const [, row] = (await verdict()).getAllByRole("row");
    expect(within(row as HTMLElement).getByText("3 (2 failed)")).toBeTruthy();
  });

  it("launches more seeds and adds them to the comparison", async () => {
    let next = 20;
    const { server, address } = open("/?runs=1,2", {
      "POST /runs/2/clone": ({ body }: Asked) => aRun({ id: (next += 1), config: { ...Object(body) } }),
    });
    await userEvent.click((await verdict()).getByRole("button", { name: "Add 3 seeds of PAAC · lr 0.5" }));
    await address("?runs=1%2C2%2C21-23");
    expect(server.of("POST /runs/2/clone").map(({ body }) => body)).toEqual(
      [8, 9, 10].map((seed) => ({ name: "fast", overrides: { seed } })),
    );
    expect(await screen.findByText("3 runs of PAAC · lr 0.5 launched: #21, #22, #23")).toBeTruthy();
  });

  it("does not change the next page if seeds are launched after leaving", async () => {
    const answers: (() => void)[] = [];
    const { router } = open("/?runs=1,2", {
      "POST /runs/2/clone": () =>
        new Promise<object>((resolve) => answers.push(() => resolve(aRun({ id: 20 + answers.length })))),
    });
    await userEvent.click((await verdict()).getByRole("button", { name: "Add 3 seeds of PAAC · lr 0.5" }));
    await waitFor(() => expect(answers).toHaveLength(3));
    await act(() => router.navigate("/elsewhere?preset=paac-pong"));
    for (const answer of answers) answer();
    expect(await screen.findByText(/^3 runs of PAAC · lr 0.5 launched/)).toBeTruthy();
    const { pathname, search } = router.state.location;
    expect(pathname + search).toBe("/elsewhere?preset=paac-pong");
  });

  it("shows which launched seeds exceed the limit of the comparison", async () => {
    let next = 20;
    const others = `100-${99 + MAX_RUNS - 3}`;
    const { address } = open(`/?runs=1,2,${others}`, {
      "POST /runs/2/clone": () => aRun({ id: (next += 1) }),
    });
    await userEvent.click((await verdict()).getByRole("button", { name: "Add 3 seeds of PAAC · lr 0.5" }));
    await address(`?runs=${[1, 2, others, 21].join("%2C")}`);
    expect(await screen.findByText(/does not include #22, #23$/)).toBeTruthy();
  });

  describe("on forks", () => {
    const parent = { run_id: 9, checkpoint_id: 40, step: 1_200_000 };
    const [slow, fast] = RUNS as [ComparedRun, ComparedRun];
    const compare = { "GET /compare": comparisonOf([slow, { ...fast, parent }]) };
    const forks = "POST /runs/9/fork";
    const more = async () => (await verdict()).findByRole("button", { name: "Add 3 seeds of PAAC · lr 0.5" });

    it("launches more seeds from the same checkpoint", async () => {
      let next = 20;
      const { server, address } = open("/?runs=1,2", {
        ...compare,
        "GET /runs/9/checkpoints": [aCheckpoint(39, 1_100_000), aCheckpoint(40, 1_200_000)],
        [forks]: () => aRun({ id: (next += 1) }),
      });
      await userEvent.click(await more());
      await address("?runs=1%2C2%2C21-23");
      expect(server.of(forks).map(({ body }) => body)).toEqual(
        [8, 9, 10].map((seed) => ({ checkpoint_id: 40, name: "fast", overrides: { ...fast.config, seed } })),
      );
      expect(server.of("POST /runs/2/clone")).toEqual([]);
    });

    it.each([
      [
        "was pruned",
        [aCheckpoint(40, 1_200_000, { available: false })],
        "These runs were forked from run 9 at 1 200 000 steps, and that checkpoint is no longer stored.",
      ],
      [
        "was purged with its run",
        () => refusal(404, "There is no run 9."),
        "These runs were forked from run 9, which was purged.",
      ],
    ])("explains why no more seeds are possible if the checkpoint %s", async (_, answer, why) => {
      const { server } = open("/?runs=1,2", { ...compare, "GET /runs/9/checkpoints": answer });
      await waitFor(async () => expect((await more()).getAttribute("aria-disabled")).toBe("true"));
      await userEvent.hover(await more());
      expect(await screen.findByText(why)).toBeTruthy();
      await userEvent.click(await more());
      expect(server.of(forks)).toEqual([]);
    });

    it("shows why the server refuses them", async () => {
      open("/?runs=1,2", {
        ...compare,
        "GET /runs/9/checkpoints": [aCheckpoint(40, 1_200_000)],
        [forks]: () => refusal(409, "The checkpoint at step 1200000 was pruned."),
      });
      await userEvent.click(await more());
      const text = await screen.findAllByText("The checkpoint at step 1200000 was pruned.");
      expect(text.length).toBeGreaterThan(0);
    });
  });

  it("says when the verdict follows while runs train", async () => {
    const message = "No verdict yet: 4 of 6 runs have not reached 1 M steps (4 running).";
    open("/?runs=1,2", { "GET /compare/verdict": { ...VERDICT, pairs: [], message } });
    const card = await verdict();
    expect(await card.findByText(message)).toBeTruthy();
    expect(card.queryByText(/beats/)).toBeNull();
    expect(card.getAllByRole("row")).toHaveLength(3);
    expect(card.queryByRole("columnheader", { name: /Probability/ })).toBeNull();
  });

  it("shows the scores of runs at the maximum instead of an interval", async () => {
    const [best, other] = VERDICT.standings;
    const no_interval = "All 3 runs score 500, the highest possible score.";
    const equal = {
      ...best,
      scores: [500, 500, 500],
      mean: { value: 500, low: null, high: null },
      no_interval,
    };
    open("/?runs=1,2", { "GET /compare/verdict": { ...VERDICT, standings: [equal, other] } });
    expect(await (await verdict()).findByText(`${no_interval} Scores: 500, 500, 500`)).toBeTruthy();
  });

  it("warns that repeated looks have used up the chance of a false verdict", async () => {
    const warning = "3 of these runs were launched after a first verdict was possible.";
    const [pair] = VERDICT.pairs;
    open("/?runs=1,2", { "GET /compare/verdict": { ...VERDICT, pairs: [{ ...pair, warning }] } });
    expect(await (await verdict()).findByText(warning)).toBeTruthy();
  });

  it("shows why nothing can be compared", async () => {
    const words = "Returns of different games are not compared.";
    open("/?runs=1,2", { "GET /compare/verdict": { at: null, standings: [], pairs: [], message: words } });
    expect(await (await verdict()).findByText(words)).toBeTruthy();
  });

  it("shows why it could not be loaded", async () => {
    open("/?runs=1,2", { "GET /compare/verdict": () => refusal(500, "The verdict is away.") });
    expect(await (await verdict()).findByText("The verdict is away.")).toBeTruthy();
  });

  it("is absent for one run", async () => {
    const { server } = open("/?runs=1");
    await screen.findByRole("region", { name: "Summary" });
    expect(server.of("GET /compare/verdict")).toEqual([]);
    expect(screen.queryByRole("region", { name: "Verdict" })).toBeNull();
  });
});
