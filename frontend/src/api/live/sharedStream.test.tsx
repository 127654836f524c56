import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { done, serve } from "@/testing/server";
import { FakeSource, fakeStreams, stream } from "@/testing/stream";
import type { LiveEvent, LiveStatus } from "./events";
import { followLive } from "./stream";

type Work = (lock: object | null) => unknown;

/** Fake of the browser's locks with a single lock. Requests get it in order. */
class FakeLocks {
  private last: Promise<unknown> = Promise.resolve();
  private held = 0;

  async request(_name: string, options: { ifAvailable?: boolean; signal?: AbortSignal }, work: Work) {
    if (options.ifAvailable && this.held > 0) return work(null);
    this.held += 1;
    const turn = this.last.then(() => {
      options.signal?.throwIfAborted();
      return work({});
    });
    this.last = turn.catch(() => undefined).finally(() => (this.held -= 1));
    return turn;
  }
}

function tab() {
  const events: LiveEvent[] = [];
  const statuses: LiveStatus[] = [];
  const { close, watch } = followLive({
    onEvent: (event) => events.push(event),
    onStatus: (status) => statuses.push(status),
  });
  return { events, statuses, close, watch };
}

describe("tabs that share the live stream", () => {
  let closing: (() => void)[] = [];
  beforeEach(() => {
    closing = [];
    fakeStreams();
    Object.defineProperty(navigator, "locks", { value: new FakeLocks(), configurable: true });
  });
  afterEach(() => {
    for (const close of closing) close();
    vi.unstubAllGlobals();
    Reflect.deleteProperty(navigator, "locks");
  });

  async function twoTabs() {
    const first = tab();
    await vi.waitFor(() => expect(FakeSource.open).toHaveLength(1));
    stream().onopen?.();
    const second = tab();
    closing = [first.close, second.close];
    await vi.waitFor(() => expect(second.statuses).toEqual(["live"]));
    return { first, second };
  }

  it("have separate connections if the browser denies locks", async () => {
    const denied = () => Promise.reject(new DOMException("Denied.", "SecurityError"));
    Object.defineProperty(navigator, "locks", { value: { request: denied }, configurable: true });
    closing = [tab().close, tab().close];
    await vi.waitFor(() => expect(FakeSource.open).toHaveLength(2));
  });

  it("open one connection, whose events all tabs receive", async () => {
    const { first, second } = await twoTabs();
    expect(FakeSource.open).toHaveLength(1);
    stream().say("run.changed", '{"run_id": 3}');
    await vi.waitFor(() => expect(second.events).toEqual([{ kind: "run.changed", run_id: 3 }]));
    expect(first.events).toEqual(second.events);
  });

  it("let another tab connect when the connected one closes, and then refetch", async () => {
    const { first, second } = await twoTabs();
    first.close();
    await vi.waitFor(() => expect(FakeSource.open).toHaveLength(1));
    stream().onopen?.();
    expect(second.events).toEqual([{ kind: "refetch" }]);
  });

  it("watch the documents of all of them over this connection", async () => {
    const { first, second } = await twoTabs();
    const server = serve({ "PUT /events/s/watches": done() });
    const watch = (path: string, etag = "a") => ({ path, etag, notice: "origin-1", topics: [], every: 0 });
    const sent = () => (server.asked.at(-1)?.body as { watches: object[] } | undefined)?.watches;
    stream().say("hello", '{"stream": "s"}');
    await vi.waitFor(() => expect(second.events).toEqual([{ kind: "hello", stream: "s" }]));
    first.watch([watch("/a"), watch("/b")], []);
    second.watch([watch("/b"), watch("/c", "old")], []);
    await vi.waitFor(() => expect(sent()).toEqual([watch("/a"), watch("/b"), watch("/c", "old")]));
    // The tabs show different versions, so the server reads the document again.
    first.watch([watch("/c", "new")], []);
    const unsure = { ...watch("/c", "new"), notice: null };
    await vi.waitFor(() => expect(sent()).toEqual([unsure, watch("/b")]));
    second.watch([], []);
    await vi.waitFor(() => expect(sent()).toEqual([watch("/c", "new")]));
    const requests = server.asked.length;
    stream().say("document.changed", '{"path": "/c", "from": "new", "etag": "newer", "patch": []}');
    first.watch([watch("/c", "newer")], []);
    expect(server.asked).toHaveLength(requests);
    expect(FakeSource.open).toHaveLength(1);
  });

  it("are notified that the server does not respond", async () => {
    const { second } = await twoTabs();
    stream().onerror?.();
    await vi.waitFor(() => expect(second.statuses).toEqual(["live", "away"]));
  });

  it("leave no connection and no lock behind if they are closed before the lock is granted", async () => {
    tab().close();
    const later = tab();
    closing = [later.close];
    await vi.waitFor(() => expect(FakeSource.open).toHaveLength(1));
  });

  it("have separate connections if the browser has no locks", () => {
    Reflect.deleteProperty(navigator, "locks");
    closing = [tab().close, tab().close];
    expect(FakeSource.open).toHaveLength(2);
  });
});
