import {
  infiniteQueryOptions,
  InfiniteQueryObserver,
  QueryClient,
  QueryObserver,
} from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DocumentServer } from "@/testing/documentServer";
import { aRun, runListOf } from "@/testing/runs";
import { done, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { call } from "../client";
import { runListQuery, runKeys } from "../runs";
import { live, ofAny, ofRuns, type Topic } from "../topics";
import { LiveDocuments } from "./LiveDocuments";
import { followLive } from "./stream";

/** Longer than all delays between a change and its request. */
const LONG_MS = 5000;

const pathOf = (name: string) => `/api/v1/metric-names?name=${name}`;

interface Shown {
  value?: number;
  points?: number[];
  other?: object;
}

const documentQuery = (name: string) => ({
  queryKey: [name],
  ...live(ofAny("run.changed")),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    call("get", "/api/v1/metric-names", { params: { query: { name } }, signal } as object) as Promise<Shown>,
  staleTime: 10_000,
});

let client: QueryClient;
let documents: LiveDocuments;
let heard: Topic[];
let followed: ReturnType<typeof followLive>;

function connect() {
  stream().onopen?.();
  stream().say("hello", JSON.stringify({ stream: "s" }));
}

const say = (change: object) => stream().say("document.changed", JSON.stringify(change));
const pass = (ms = LONG_MS) => vi.advanceTimersByTimeAsync(ms);
const shown = (name: string) => client.getQueryData<Shown>([name]);

/** Show a query, and return a function that hides it. */
function show(name: string, options: object = {}) {
  return new QueryObserver(client, { ...documentQuery(name), ...options }).subscribe(() => {});
}

function look(visibility: DocumentVisibilityState) {
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(visibility);
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
}

beforeEach(() => {
  vi.useFakeTimers();
  fakeStreams();
  client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: "always" } } });
  client.mount();
  heard = [];
  documents = new LiveDocuments(
    client,
    (...wanted) => followed.watch(...wanted),
    () => heard,
  );
  followed = followLive({ onEvent: (event) => documents.take(event), onStatus: () => undefined });
});
afterEach(() => {
  documents.stop();
  followed.close();
  client.clear();
  client.unmount();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("documents on screen", () => {
  it("are watched with the version that the page has, and others are not", async () => {
    const server = new DocumentServer(say);
    for (const name of ["a", "b", "c"]) server.write(pathOf(name), { value: 1 });
    show("a");
    const hide = show("b");
    show("c", { enabled: false });
    connect();
    await pass();
    expect(server.paths).toEqual([pathOf("a"), pathOf("b")]);
    const [watch] = server.sets.at(-1) ?? [];
    expect(watch).toMatchObject({ notice: "origin-3", topics: [{ event: "run.changed" }], every: 0 });
    hide();
    await pass();
    expect(server.paths).toEqual([pathOf("a")]);
    expect(server.sets).toHaveLength(2);
    expect(server.requested).toHaveLength(2);
  });

  it("are patched without a request, and parts without a change keep their identity", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1, points: [1, 2], other: { kept: true } });
    show("a");
    connect();
    await pass();
    const before = shown("a")?.other;
    server.write(pathOf("a"), { value: 2, points: [1, 2, 3], other: { kept: true } });
    expect(shown("a")).toEqual({ value: 2, points: [1, 2, 3], other: { kept: true } });
    expect(shown("a")?.other).toBe(before);
    await pass();
    expect(server.requested).toHaveLength(1);
    expect(server.sets).toHaveLength(1);
  });

  it("are fetched once if a patch is of another version", async () => {
    const server = new DocumentServer(() => undefined);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    server.write(pathOf("a"), { value: 2 });
    for (let each = 0; each < 3; each++) say({ path: pathOf("a"), from: "x", etag: "y", patch: [] });
    await pass();
    expect(server.requested).toHaveLength(2);
    expect(shown("a")).toEqual({ value: 2 });
  });

  it("are replaced if the server sends them whole, and not by an earlier version", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    say({ path: pathOf("a"), etag: "later", notice: "origin-9", document: { value: 9 } });
    expect(shown("a")).toEqual({ value: 9 });
    say({ path: pathOf("a"), etag: "earlier", notice: "origin-8", document: { value: 8 } });
    expect(shown("a")).toEqual({ value: 9 });
  });

  it("are fetched if the server cannot read them, so that the page shows the error", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    const gone = () => Promise.resolve(Response.json({ detail: "Gone." }, { status: 404 }));
    const fetched = vi.spyOn(globalThis, "fetch").mockClear().mockImplementation(gone);
    say({ path: pathOf("a"), status: 404 });
    await pass();
    expect(client.getQueryState(["a"])).toMatchObject({ status: "error", error: { message: "Gone." } });
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(server.requested).toHaveLength(1);
  });

  it("stay watched after a mutation has changed them", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    client.setQueryData(["a"], { value: 5 });
    server.write(pathOf("a"), { value: 6 });
    expect(shown("a")).toEqual({ value: 6 });
    await pass();
    expect(server.requested).toHaveLength(1);
  });

  it("show a change during a slow request that read the version before", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    const answer = await globalThis.fetch(new Request(`http://localhost${pathOf("a")}`));
    const answers: (() => void)[] = [];
    vi.spyOn(globalThis, "fetch").mockImplementationOnce(
      () => new Promise((resolve) => answers.push(() => resolve(answer))),
    );
    void client.invalidateQueries({ queryKey: ["a"] });
    server.write(pathOf("a"), { value: 2 });
    expect(shown("a")).toEqual({ value: 2 });
    answers[0]?.();
    await pass();
    expect(shown("a")).toEqual({ value: 2 });
  });
});

describe("the connection", () => {
  it("sends all watches again after a gap, and the server sends what changed", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    stream().onerror?.();
    server.disconnect();
    server.write(pathOf("a"), { value: 2 });
    await pass();
    connect();
    await pass();
    expect(server.sets.map((set) => set.length)).toEqual([1, 1]);
    expect(shown("a")).toEqual({ value: 2 });
    expect(server.requested).toHaveLength(1);
  });

  it("sends them again after the server has dropped its events", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    server.disconnect();
    server.write(pathOf("a"), { value: 2 });
    stream().say("refetch");
    await pass();
    expect(shown("a")).toEqual({ value: 2 });
    expect(server.requested).toHaveLength(1);
  });

  it("sends them again after a failed request", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    await pass();
    vi.spyOn(globalThis, "fetch").mockRejectedValueOnce(new TypeError("Failed to fetch"));
    connect();
    await pass();
    expect(server.paths).toEqual([pathOf("a")]);
  });

  // Changes of these documents are late, repeated and in another order. Some are lost before the connection ends.
  it.each([1, 2, 3, 4, 5, 6, 7, 8])("may disturb all events (%s)", async (seed) => {
    let state = seed;
    const random = (below: number) => {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((state / 2 ** 31) * below);
    };
    const late: object[] = [];
    const server = new DocumentServer((change) => late.push(change));
    const names = ["a", "b", "c"];
    const check = () => {
      for (const name of names) expect(shown(name)).toEqual(server.read(pathOf(name)));
    };
    const arrive = () => {
      const [change] = late.splice(random(late.length), 1);
      if (change && random(4) === 0) late.push(change);
      if (change) say(change);
    };
    const arriveAll = async () => {
      do {
        arrive();
        // The page may request documents, whose watches lead to more changes.
        await pass(late.length > 0 ? 100 : LONG_MS);
      } while (late.length > 0);
    };
    for (const name of names) server.write(pathOf(name), { value: 0, points: [] });
    for (const name of names) show(name);
    connect();
    await pass();
    for (let step = 0; step < 60; step++) {
      const path = pathOf(names[random(3)] ?? "a");
      const { points } = server.read(path) as { points: number[] };
      server.write(path, { value: random(3), points: points.slice(random(2)).concat(step) });
      while (random(3) > 0) arrive();
      if (random(5) === 0) await pass(100);
    }
    await arriveAll();
    check();
    for (const name of names) server.write(pathOf(name), { value: seed });
    late.length = 0;
    stream().onerror?.();
    server.disconnect();
    await pass();
    connect();
    await pass();
    await arriveAll();
    check();
  });
});

describe("a hidden tab", () => {
  it("watches nothing, and catches up without requests", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    connect();
    await pass();
    look("hidden");
    await pass();
    expect(server.paths).toEqual([]);
    server.write(pathOf("a"), { value: 2 });
    stream().say("run.changed", '{"run_id": 1}');
    // The query is stale by now.
    await pass(20_000);
    expect(shown("a")).toEqual({ value: 1 });
    look("visible");
    await pass();
    expect(server.paths).toEqual([pathOf("a")]);
    expect(shown("a")).toEqual({ value: 2 });
    expect(server.requested).toHaveLength(1);
  });
});

describe("a list with pages", () => {
  const pagePath = (cursor: string | null) => `/api/v1/runs?limit=100${cursor ? `&cursor=${cursor}` : ""}`;
  const page = (runs: Parameters<typeof aRun>[0][], cursor: string | null = null) =>
    runListOf(runs.map(aRun), { next_cursor: cursor }) as unknown as Record<string, unknown>;

  async function open() {
    const server = new DocumentServer(say);
    server.write(pagePath(null), page([{ id: 9 }, { id: 8 }], "c8"));
    server.write(pagePath("c8"), page([{ id: 7 }]));
    const observer = new InfiniteQueryObserver(client, infiniteQueryOptions({ ...runListQuery({}) }));
    observer.subscribe(() => {});
    connect();
    await pass(100);
    await observer.fetchNextPage();
    await pass(100);
    expect(server.paths).toEqual([pagePath(null), pagePath("c8")]);
    const ids = () =>
      observer.getCurrentResult().data?.pages.map(({ items }) => items.map(({ id, step }) => [id, step]));
    return { server, observer, ids };
  }

  it("is patched page by page, and rows without a change keep their identity", async () => {
    const { server, observer, ids } = await open();
    const before = observer.getCurrentResult().data?.pages[0]?.items[1];
    server.write(pagePath(null), page([{ id: 9, step: 5 }, { id: 8 }], "c8"));
    server.write(pagePath("c8"), page([{ id: 7, step: 6 }]));
    expect(ids()?.map((items) => items[0])).toEqual([
      [9, 5],
      [7, 6],
    ]);
    expect(observer.getCurrentResult().data?.pages[0]?.items[1]).toBe(before);
    expect(server.requested).toHaveLength(2);
  });

  it("is fetched again if a later page starts elsewhere", async () => {
    const { server, ids } = await open();
    server.write(pagePath("c9"), page([{ id: 8, step: 1 }]));
    server.write(
      pagePath(null),
      page(
        [
          { id: 10, step: 1 },
          { id: 9, step: 1 },
        ],
        "c9",
      ),
    );
    await pass();
    expect(ids()).toEqual([
      [
        [10, 1],
        [9, 1],
      ],
      [[8, 1]],
    ]);
    expect(server.requested.slice(2)).toEqual([pagePath(null), pagePath("c9")]);
    expect(server.paths).toEqual([pagePath(null), pagePath("c9")]);
    expect(client.getQueryCache().findAll({ queryKey: runKeys.lists })).toHaveLength(1);
  });
});

describe("a query without a document", () => {
  function showFetched(options: object = {}) {
    const fetched = vi.fn(() => Promise.resolve({}));
    const query = {
      queryKey: ["posted"],
      ...live(ofRuns([1], "run.metrics"), 2),
      queryFn: fetched,
      ...options,
    };
    new QueryObserver(client, { ...query, staleTime: Infinity }).subscribe(() => {});
    return fetched;
  }
  const report = (run: number) => stream().say("run.metrics", JSON.stringify({ run_id: run }));

  it("is fetched again after its notices, at most once in its interval", async () => {
    const fetched = showFetched();
    await pass();
    report(2);
    await pass();
    expect(fetched).toHaveBeenCalledTimes(1);
    for (let tick = 0; tick < 40; tick++) {
      report(1);
      await pass(100);
    }
    expect(fetched.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(fetched.mock.calls.length).toBeLessThanOrEqual(4);
  });

  it("is fetched once more after a slow response", async () => {
    const answers: (() => void)[] = [];
    const queryFn = vi.fn(() => new Promise((resolve) => answers.push(() => resolve({}))));
    showFetched({ queryFn });
    report(1);
    await pass();
    expect(queryFn).toHaveBeenCalledTimes(1);
    answers[0]?.();
    await pass();
    expect(queryFn).toHaveBeenCalledTimes(2);
  });

  it("is not fetched in a hidden tab, but when it becomes visible", async () => {
    const fetched = showFetched();
    await pass();
    look("hidden");
    report(1);
    await pass();
    expect(fetched).toHaveBeenCalledTimes(1);
    look("visible");
    await pass();
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  it("is fetched again if notices may be lost", async () => {
    const fetched = showFetched();
    await pass();
    stream().say("refetch");
    await pass();
    expect(fetched).toHaveBeenCalledTimes(2);
  });
});

it("does not watch responses without a version, but receives their notices", async () => {
  const server = serve({ "GET /metric-names": { value: 1 }, "PUT /events/s/watches": done() });
  show("a");
  connect();
  await pass();
  expect(server.asked.map(({ method }) => method)).toEqual(["GET", "PUT"]);
  expect(server.asked[1]?.body).toEqual({ watches: [], notices: ofAny("run.changed") });
});

describe("notices", () => {
  it("are those of data that the stream cannot update, also in a hidden tab", async () => {
    const server = new DocumentServer(say);
    server.write(pathOf("a"), { value: 1 });
    show("a");
    heard = ofAny("alerts.changed");
    connect();
    await pass();
    expect(server.wanted).toEqual(heard);
    const posted = { queryKey: ["posted"], ...live(ofRuns([1], "run.metrics")), queryFn: () => ({}) };
    const hide = new QueryObserver(client, { ...posted, gcTime: 0 }).subscribe(() => {});
    await pass();
    const both = [...heard, ...ofRuns([1], "run.metrics")];
    expect(server.wanted).toEqual(both);
    look("hidden");
    await pass();
    expect(server.sets.at(-1)).toEqual([]);
    expect(server.wanted).toEqual(both);
    look("visible");
    hide();
    await pass();
    expect(server.paths).toEqual([pathOf("a")]);
    expect(server.wanted).toEqual(heard);
  });

  it("are all if they are of too many topics", async () => {
    const server = new DocumentServer(say);
    heard = Array.from({ length: 101 }, (_, run_id) => ({ event: "run.log", where: { run_id } }));
    connect();
    documents.watchSoon();
    await pass();
    expect(server.sets).toEqual([[]]);
    expect(server.wanted).toBeNull();
  });
});
