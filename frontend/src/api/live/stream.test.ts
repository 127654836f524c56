import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LiveEvent, LiveStatus } from "./events";
import { openStream } from "./stream";

class FakeSource extends EventTarget {
  static opened: FakeSource[] = [];
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;
  constructor(readonly url: string) {
    super();
    FakeSource.opened.push(this);
  }
  close() {
    this.closed = true;
  }
  say(kind: string, data: string) {
    this.dispatchEvent(new MessageEvent(kind, { data }));
  }
}

function followed() {
  const events: LiveEvent[] = [];
  const statuses: LiveStatus[] = [];
  const close = openStream({
    onEvent: (event) => events.push(event),
    onStatus: (status) => statuses.push(status),
  });
  return { events, statuses, close };
}

const source = (at: number) => FakeSource.opened[at] as FakeSource;

describe("the live stream", () => {
  beforeEach(() => {
    FakeSource.opened = [];
    vi.useFakeTimers();
    vi.stubGlobal("EventSource", FakeSource);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("passes on what the server says", () => {
    const { events, statuses } = followed();
    source(0).onopen?.();
    source(0).say("run.changed", '{"run_id": 12}');
    source(0).say("refetch", "");
    expect(source(0).url).toBe("/api/v1/events");
    expect(statuses).toEqual(["live"]);
    expect(events).toEqual([{ kind: "run.changed", run_id: 12 }, { kind: "refetch" }]);
  });

  it("opens again after a break and then asks for everything", () => {
    const { events, statuses } = followed();
    source(0).onopen?.();
    source(0).onerror?.();
    expect(source(0).closed).toBe(true);
    vi.advanceTimersByTime(500);
    expect(FakeSource.opened).toHaveLength(2);
    source(1).onopen?.();
    expect(statuses).toEqual(["live", "away", "live"]);
    expect(events).toEqual([{ kind: "refetch" }]);
  });

  it("waits longer while the server stays away", () => {
    followed();
    source(0).onerror?.();
    vi.advanceTimersByTime(500);
    source(1).onerror?.();
    vi.advanceTimersByTime(999);
    expect(FakeSource.opened).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(FakeSource.opened).toHaveLength(3);
  });

  it("opens nothing more once closed", () => {
    const { close } = followed();
    source(0).onerror?.();
    close();
    vi.advanceTimersByTime(60_000);
    expect(FakeSource.opened).toHaveLength(1);
  });
});
