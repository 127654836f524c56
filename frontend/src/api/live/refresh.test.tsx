import { QueryClient, type QueryKey, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FIGURE_KINDS } from "@/testing/figureKinds";
import { aJobNotice, QUEUED_JOB } from "@/testing/jobs";
import { aRun, runListOf } from "@/testing/runs";
import { aStudy } from "@/testing/studies";
import type { ListedRun, Run } from "../types";
import { changeKeys } from "../changes";
import { comparisonKeys } from "../comparisons";
import { evaluationKeys } from "../evaluations";
import { figureKeys, figureKindsQuery } from "../figures";
import { gameKeys } from "../games";
import { showsJobs } from "../jobs";
import { metricKeys } from "../metrics";
import { paperKeys } from "../papers";
import { recordingKeys } from "../recordings";
import { runKeys } from "../runs";
import { studyKeys } from "../studies";
import { workerKeys } from "../workers";
import type { LiveEvent } from "./events";
import { Refresher } from "./refresh";
import { LIST_REFRESH_MS, REFRESH_MS, SELDOM_REFRESH_MS } from "./staleQueries";

const list = (runs: ListedRun[]) => ({
  pages: [{ items: runs, next_cursor: null, total: runs.length }],
  pageParams: [null],
});

const curvesOf = (...runs: number[]) => figureKeys.at(`/api/v1/figures/curves?runs=${runs.join()}`, runs);
const comparisonOf = (...runs: number[]) => comparisonKeys.detail({ runs, by: [], byGroup: true });

/** A query on screen, and how often it was fetched. */
function shown(client: QueryClient, queryKey: QueryKey, answer: unknown = null, options = {}) {
  const fetched = vi.fn(() => Promise.resolve(answer));
  client.setQueryData(queryKey, answer);
  const unsubscribe = new QueryObserver(client, {
    queryKey,
    queryFn: fetched,
    staleTime: Infinity,
    ...options,
  }).subscribe(() => {});
  return { fetched, unsubscribe };
}

describe("a live event", () => {
  let client: QueryClient;
  let refresher: Refresher;
  beforeEach(() => {
    vi.useFakeTimers();
    client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
    refresher = new Refresher(client);
  });
  afterEach(() => {
    refresher.stop();
    client.clear();
    vi.useRealTimers();
  });

  const serve = (run: Run) =>
    vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(Response.json(run)));

  it("patches the row of a changed run without fetching the list", async () => {
    const { fetched } = shown(client, runKeys.list({}), list([aRun({ step: 1 })]));
    serve(aRun({ step: 2 }));
    refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(client.getQueryData<ReturnType<typeof list>>(runKeys.list({}))?.pages[0]?.items[0]?.step).toBe(2);
    expect(fetched).not.toHaveBeenCalled();
  });

  it("refetches a list that was being fetched when the first replay arrived", async () => {
    const old = list([aRun({ poster_file_id: null })]);
    client.setQueryData(runKeys.list({}), old);
    const answers: (() => void)[] = [];
    const fetched = vi.fn(() => new Promise<typeof old>((resolve) => answers.push(() => resolve(old))));
    new QueryObserver(client, { queryKey: runKeys.list({}), queryFn: fetched }).subscribe(() => {});
    serve(aRun({ poster_file_id: 7 }));
    refresher.take({ kind: "run.files", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(LIST_REFRESH_MS + REFRESH_MS);
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  it("fetches all runs that changed at the same time in one call", async () => {
    shown(client, runKeys.list({}), list([aRun({ id: 1 }), aRun({ id: 2 })]));
    const runs = [aRun({ id: 1, step: 5 }), aRun({ id: 2, step: 7 })];
    const fetched = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation(() => Promise.resolve(Response.json(runListOf(runs))));
    refresher.take({ kind: "run.changed", run_id: 1 });
    refresher.take({ kind: "run.metrics", run_id: 1 });
    refresher.take({ kind: "run.changed", run_id: 2 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(fetched).toHaveBeenCalledTimes(1);
    const shownNow = client.getQueryData<ReturnType<typeof list>>(runKeys.list({}))?.pages[0]?.items;
    expect(shownNow?.map(({ step }) => step)).toEqual([5, 7]);
  });

  it("refetches the changes of settings when a run reports that it applied one", async () => {
    const { fetched } = shown(client, changeKeys.list(1), { items: [], start_config: {} });
    serve(aRun());
    refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("fetches a run once for many changes at the same time", async () => {
    shown(client, runKeys.list({}), list([aRun()]));
    const fetched = serve(aRun());
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    for (let change = 0; change < 20; change++) refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("refetches the list when a run is new or changes its state", async () => {
    const { fetched } = shown(client, runKeys.list({}), list([aRun()]));
    const facets = shown(client, runKeys.facets(false, null));
    serve(aRun({ state: "finished" }));
    refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS * 2);
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(facets.fetched).toHaveBeenCalledTimes(1);
  });

  it("refetches lists at most every two seconds, regardless of how many runs change", async () => {
    const { fetched } = shown(client, runKeys.list({}), list([aRun()]));
    serve(aRun());
    for (let tick = 0; tick < 8; tick++) {
      for (let id = 1; id <= 10; id++) refresher.take({ kind: "run.changed", run_id: id });
      await vi.advanceTimersByTimeAsync(LIST_REFRESH_MS / 4);
    }
    expect(fetched.mock.calls.length).toBeGreaterThanOrEqual(2);
    expect(fetched.mock.calls.length).toBeLessThanOrEqual(3);
  });

  it("refetches only the figures that show the run", async () => {
    const moved = shown(client, curvesOf(1, 2));
    const still = shown(client, curvesOf(3));
    refresher.take({ kind: "run.metrics", run_id: 2 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(moved.fetched).toHaveBeenCalledTimes(1);
    expect(still.fetched).not.toHaveBeenCalled();
  });

  it("refetches the comparison and the figures that show the name of a renamed run", async () => {
    const telling = [shown(client, curvesOf(1, 2)), shown(client, comparisonOf(1, 2))];
    refresher.take({ kind: "run.changed", run_id: 2 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    for (const { fetched } of telling) expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("refetches a run's evaluations and the figures of its files when these change", async () => {
    client.setQueryData(figureKindsQuery.queryKey, FIGURE_KINDS);
    const figureOf = (name: string, ...runs: number[]) => {
      const figure = `/api/v1/figures/${name}?runs=${runs.join()}`;
      return shown(client, figureKeys.at(figure, runs), null, { meta: { figure } });
    };
    const mine = [figureOf("evaluations", 1), figureOf("calibrations", 1, 2), figureOf("action-shares", 1)];
    const list = shown(client, evaluationKeys.list(1));
    const others = [figureOf("evaluations", 2), figureOf("curves", 1)];
    refresher.take({ kind: "run.files", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    for (const { fetched } of [...mine, list]) expect(fetched).toHaveBeenCalledTimes(1);
    for (const { fetched } of others) expect(fetched).not.toHaveBeenCalled();
  });

  it("shows the progress of a job without fetching anything", async () => {
    const running = { ...QUEUED_JOB, state: "running", done: 3 };
    const pages = [
      shown(client, evaluationKeys.list(1), { pages: [{ items: [running] }] }, showsJobs("evaluation")),
      shown(client, recordingKeys.list(1), [running], showsJobs("recording")),
      shown(client, gameKeys.detail("pong", null), null),
      shown(client, paperKeys.figure("gorila", "table-1", {}), null),
    ];
    refresher.take({ kind: "job.changed", job: aJobNotice({ done: 4 }) });
    expect(client.getQueryData(evaluationKeys.list(1))).toEqual({
      pages: [{ items: [{ ...running, done: 4 }] }],
    });
    expect(client.getQueryData(recordingKeys.list(1))).toEqual([running]);
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    for (const { fetched } of pages) expect(fetched).not.toHaveBeenCalled();
  });

  it.each([
    ["has ended", { state: "done" as const, done: 30 }],
    ["was removed", { state: "removed" as const }],
    ["has a warning", { done: 3 }],
    ["is new", { id: 9, state: "queued" as const }],
  ])("refetches the list of a job that %s", async (_, changes) => {
    const running = { ...QUEUED_JOB, state: "running", done: 3 };
    const list = shown(client, recordingKeys.list(1), [running], showsJobs("recording"));
    const other = shown(client, recordingKeys.list(2), [], showsJobs("recording"));
    refresher.take({ kind: "job.changed", job: aJobNotice({ kind: "recording", ...changes }) });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(list.fetched).toHaveBeenCalledTimes(1);
    expect(other.fetched).not.toHaveBeenCalled();
  });

  it("refetches why a job waits when another one ends", async () => {
    const list = shown(client, recordingKeys.list(2), [QUEUED_JOB], showsJobs("recording"));
    refresher.take({ kind: "job.changed", job: aJobNotice({ id: 9, state: "done" }) });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(list.fetched).toHaveBeenCalledTimes(1);
  });

  it("refetches papers and games after an evaluation", async () => {
    const pages = [
      shown(client, paperKeys.figure("gorila", "table-1", {})),
      shown(client, gameKeys.detail("pong", null)),
    ];
    refresher.take({ kind: "job.changed", job: aJobNotice({ state: "done" }) });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    for (const { fetched } of pages) expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("refetches diagrams of papers when a run reports metrics or changes", async () => {
    const diagram = shown(client, paperKeys.diagram("ga3c", "figure-1", "ga3c", null));
    refresher.take({ kind: "run.metrics", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(diagram.fetched).toHaveBeenCalledTimes(1);
    refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(SELDOM_REFRESH_MS);
    expect(diagram.fetched).toHaveBeenCalledTimes(2);
  });

  it("refetches the diagram of a run only if this run changes", async () => {
    const diagram = shown(client, paperKeys.diagram("ga3c", "figure-1", "ga3c", 2));
    refresher.take({ kind: "run.metrics", run_id: 1 });
    await vi.advanceTimersByTimeAsync(SELDOM_REFRESH_MS);
    expect(diagram.fetched).not.toHaveBeenCalled();
    refresher.take({ kind: "run.metrics", run_id: 2 });
    await vi.advanceTimersByTimeAsync(SELDOM_REFRESH_MS);
    expect(diagram.fetched).toHaveBeenCalledTimes(1);
  });

  it("refetches a study if it or one of its runs changes, and the list of studies for any run", async () => {
    const study = aStudy({ id: 5 });
    const own = study.table[0]?.runs[0]?.run_id ?? 0;
    const pages = [
      shown(client, studyKeys.detail(5), study),
      shown(client, studyKeys.figure(5, {})),
      shown(client, studyKeys.listOf(null)),
    ];
    const fetchedCounts = async (event: LiveEvent) => {
      refresher.take(event);
      await vi.advanceTimersByTimeAsync(SELDOM_REFRESH_MS);
      return pages.map(({ fetched }) => fetched.mock.calls.length);
    };
    expect(await fetchedCounts({ kind: "run.changed", run_id: 987 })).toEqual([0, 0, 1]);
    expect(await fetchedCounts({ kind: "run.changed", run_id: own })).toEqual([1, 1, 2]);
    expect(await fetchedCounts({ kind: "study.changed", study_id: 5 })).toEqual([2, 2, 3]);
  });

  it("refetches figures at most every second and comparisons at most every two seconds", async () => {
    const figure = shown(client, curvesOf(1, 2));
    const compare = shown(client, comparisonOf(1, 2));
    const names = shown(client, metricKeys.names(1), []);
    for (let tick = 0; tick < 80; tick++) {
      for (const run_id of [1, 2]) refresher.take({ kind: "run.metrics", run_id });
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(figure.fetched.mock.calls.length).toBeLessThanOrEqual(9);
    expect(figure.fetched.mock.calls.length).toBeGreaterThanOrEqual(7);
    expect(compare.fetched.mock.calls.length).toBeLessThanOrEqual(5);
    expect(compare.fetched.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(names.fetched).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(SELDOM_REFRESH_MS);
    expect(names.fetched).toHaveBeenCalledTimes(2);
  });

  it("fetches nothing for a run that no page shows", async () => {
    shown(client, runKeys.detail(1), aRun());
    const compare = shown(client, comparisonOf(1, 2));
    const fetched = serve(aRun({ id: 3 }));
    refresher.take({ kind: "run.changed", run_id: 3 });
    refresher.take({ kind: "run.metrics", run_id: 4 });
    await vi.advanceTimersByTimeAsync(LIST_REFRESH_MS);
    expect(fetched).not.toHaveBeenCalled();
    expect(compare.fetched).not.toHaveBeenCalled();
  });

  it("fetches nothing in a hidden tab, and stale queries when the tab becomes visible", async () => {
    const look = (visibility: DocumentVisibilityState) => {
      vi.spyOn(document, "visibilityState", "get").mockReturnValue(visibility);
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    };
    client.mount();
    const figure = shown(client, curvesOf(1));
    const still = shown(client, curvesOf(9));
    const lists = shown(client, runKeys.list({}), list([aRun()]));
    const fetched = serve(aRun());
    look("hidden");
    for (let tick = 0; tick < 10; tick++) {
      refresher.take({ kind: "run.changed", run_id: 1 });
      refresher.take({ kind: "run.metrics", run_id: 1 });
      refresher.take({ kind: "run.removed", run_id: 3 });
      await vi.advanceTimersByTimeAsync(REFRESH_MS);
    }
    for (const one of [figure.fetched, lists.fetched, fetched]) expect(one).not.toHaveBeenCalled();
    look("visible");
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(figure.fetched).toHaveBeenCalledTimes(1);
    expect(lists.fetched).toHaveBeenCalled();
    expect(still.fetched).not.toHaveBeenCalled();
    client.unmount();
  });

  it("refetches only lists with metrics when metrics change", async () => {
    const plain = shown(client, runKeys.list({ metric: [] }), list([aRun()]));
    refresher.take({ kind: "run.metrics", run_id: 1 });
    await vi.advanceTimersByTimeAsync(LIST_REFRESH_MS);
    expect(plain.fetched).not.toHaveBeenCalled();
    plain.unsubscribe();
    const telling = shown(client, runKeys.list({ metric: ["train/entropy"] }), list([aRun()]));
    refresher.take({ kind: "run.metrics", run_id: 1 });
    await vi.advanceTimersByTimeAsync(LIST_REFRESH_MS);
    expect(telling.fetched).toHaveBeenCalledTimes(1);
  });

  it("keeps the metrics and settings of a row when only the row is patched", async () => {
    const metrics = { "train/entropy": { last: 1, min: 0, max: 2 } };
    const config = { seed: 3 };
    shown(client, runKeys.list({}), list([{ ...aRun({ step: 1 }), metrics, config }]));
    serve(aRun({ step: 2 }));
    refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    const [row] = client.getQueryData<ReturnType<typeof list>>(runKeys.list({}))?.pages[0]?.items ?? [];
    expect(row).toMatchObject({ step: 2, metrics });
    expect(row?.config).toEqual(config);
  });

  it("waits for a slow response before it refetches", async () => {
    const answers: (() => void)[] = [];
    const fetched = vi.fn(() => new Promise((resolve) => answers.push(() => resolve(null))));
    client.setQueryData(workerKeys.all, null);
    new QueryObserver(client, { queryKey: workerKeys.all, queryFn: fetched, staleTime: Infinity }).subscribe(
      () => {},
    );
    for (let tick = 0; tick < 6; tick++) {
      refresher.take({ kind: "worker.changed", name: "cpu-1" });
      await vi.advanceTimersByTimeAsync(REFRESH_MS);
    }
    expect(fetched).toHaveBeenCalledTimes(1);
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  it("refetches a run that changed while it was being fetched", async () => {
    const answers: ((run: Run) => void)[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementation(
      () => new Promise((resolve) => answers.push((run) => resolve(Response.json(run)))),
    );
    shown(client, runKeys.list({}), list([aRun()]));
    refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    refresher.take({ kind: "run.changed", run_id: 1 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(answers).toHaveLength(1);
    answers[0]?.(aRun({ state: "running" }));
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    expect(answers).toHaveLength(2);
    answers[1]?.(aRun({ state: "finished" }));
    await vi.advanceTimersByTimeAsync(0);
    expect(client.getQueryData<Run>(runKeys.detail(1))?.state).toBe("finished");
  });

  it("refetches everything that contained a purged run, and no other comparison", async () => {
    const had = [
      shown(client, curvesOf(1, 2)),
      shown(client, comparisonOf(1, 2)),
      shown(client, studyKeys.detail(3)),
      shown(client, paperKeys.detail("a3c")),
      shown(client, gameKeys.all),
    ];
    const other = shown(client, comparisonOf(1, 3));
    refresher.take({ kind: "run.removed", run_id: 2 });
    await vi.advanceTimersByTimeAsync(REFRESH_MS);
    for (const { fetched } of had) expect(fetched).toHaveBeenCalledTimes(1);
    expect(other.fetched).not.toHaveBeenCalled();
  });

  it("removes a purged run from the list immediately", () => {
    shown(client, runKeys.list({}), list([aRun(), aRun({ id: 2 })]));
    refresher.take({ kind: "run.removed", run_id: 1 });
    const items = client.getQueryData<ReturnType<typeof list>>(runKeys.list({}))?.pages[0]?.items;
    expect(items?.map((run) => run.id)).toEqual([2]);
  });
});
