import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeSource, fakeStreams } from "@/testing/stream";
import type { LiveEvent, LiveStatus } from "./events";
import { openStream } from "./stream";

function followed() {
  const events: LiveEvent[] = [];
  const statuses: LiveStatus[] = [];
  const { close } = openStream({
    onEvent: (event) => events.push(event),
    onStatus: (status) => statuses.push(status),
  });
  return { events, statuses, close };
}

function source(at: number): FakeSource {
  const found = FakeSource.opened[at];
  if (!found) throw new Error(`Stream ${at} was never opened.`);
  return found;
}

describe("the live stream", () => {
  beforeEach(() => {
    fakeStreams();
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("forwards events of the server", () => {
    const { events, statuses } = followed();
    source(0).onopen?.();
    source(0).say("run.changed", '{"run_id": 12}');
    source(0).say("refetch", "");
    expect(source(0).url).toBe("/api/v1/events");
    expect(statuses).toEqual(["live"]);
    expect(events).toEqual([{ kind: "run.changed", run_id: 12 }, { kind: "refetch" }]);
  });

  it("reconnects after an interruption and then refetches what it does not update", () => {
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

  it("waits longer before each retry", () => {
    followed();
    source(0).onerror?.();
    vi.advanceTimersByTime(500);
    source(1).onerror?.();
    vi.advanceTimersByTime(999);
    expect(FakeSource.opened).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(FakeSource.opened).toHaveLength(3);
  });

  it("does not reconnect after it is closed", () => {
    const { close } = followed();
    source(0).onerror?.();
    close();
    vi.advanceTimersByTime(60_000);
    expect(FakeSource.opened).toHaveLength(1);
  });
});
