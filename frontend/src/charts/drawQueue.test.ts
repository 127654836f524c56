import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { cancelDrawing, drawSoon } from "./drawQueue";

const [first, second, third] = [{}, {}, {}];
const URGENT = false;
const UPDATE = true;
let now = 0;
let drawn: string[] = [];

/** Let time pass, one millisecond after another. */
function pass(ms: number) {
  for (let each = 0; each < ms; each++) {
    now += 1;
    vi.advanceTimersByTime(1);
  }
}

/** Return a drawing that takes some time. */
const draw =
  (name: string, ms = 0) =>
  () => {
    now += ms;
    drawn.push(name);
  };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.spyOn(performance, "now").mockImplementation(() => now);
  now += 100_000;
  drawn = [];
});
afterEach(() => {
  for (const chart of [first, second, third]) cancelDrawing(chart);
  vi.useRealTimers();
});

it("draws each chart in a task, and only its newest figure", () => {
  drawSoon(first, draw("old"), URGENT);
  drawSoon(second, draw("second"), URGENT);
  drawSoon(first, draw("new"), URGENT);
  drawSoon(third, draw("removed"), URGENT);
  cancelDrawing(third);
  expect(drawn).toEqual([]);
  vi.advanceTimersToNextTimer();
  expect(drawn).toEqual(["new"]);
  pass(10);
  expect(drawn).toEqual(["new", "second"]);
});

it("gives updates a tenth of the time, but draws at once what the user changed", () => {
  drawSoon(first, draw("slow", 100), URGENT);
  pass(1);
  drawSoon(first, draw("update"), UPDATE);
  drawSoon(second, draw("zoom", 50), URGENT);
  pass(1);
  expect(drawn).toEqual(["slow", "zoom"]);
  // Both took 150 ms.
  pass(1_340);
  expect(drawn).toEqual(["slow", "zoom"]);
  pass(20);
  expect(drawn).toEqual(["slow", "zoom", "update"]);
});

it("updates all charts in turn, even if new data comes faster", () => {
  const charts = { first, second, third };
  drawSoon(first, draw("first", 100), UPDATE);
  for (let second = 0; second < 5; second++) {
    for (const [name, chart] of Object.entries(charts)) drawSoon(chart, draw(name, 100), UPDATE);
    pass(900);
  }
  expect(drawn).toEqual(["first", "second", "third", "first", "second"]);
});

it("continues after a failed drawing", () => {
  drawSoon(
    first,
    () => {
      throw new Error("cannot be drawn");
    },
    URGENT,
  );
  drawSoon(second, draw("second"), URGENT);
  expect(() => vi.advanceTimersToNextTimer()).toThrow("cannot be drawn");
  vi.advanceTimersToNextTimer();
  expect(drawn).toEqual(["second"]);
});
