import { describe, expect, it } from "vitest";
import { aReplay } from "@/testing/files";
import { inTrainingOrder, type PlayableReplay } from "./places";
import { lastOfAll, othersOf, replayAt, stepOf, stopsOf } from "./raceSteps";

const replays = (...steps: number[]): PlayableReplay[] =>
  inTrainingOrder(steps.map((step, place) => aReplay(place + 1, step)));
const at = (written: string) => new URLSearchParams(written);

describe("a race", () => {
  it("shows each run's last replay up to the step, or else its first", () => {
    const run = replays(1000, 2000, 3000);
    expect(replayAt(run, 2000)?.step).toBe(2000);
    expect(replayAt(run, 2999)?.step).toBe(2000);
    expect(replayAt(run, 9000)?.step).toBe(3000);
    expect(replayAt(run, 500)?.step).toBe(1000);
    expect(replayAt([], 500)).toBeUndefined();
  });

  it("has a stop at each replay, and starts at the last step that all runs have reached", () => {
    const all = [replays(1000, 3000), replays(1000, 2000), []];
    expect(stopsOf(all)).toEqual([1000, 2000, 3000]);
    expect(lastOfAll(all)).toBe(2000);
    expect(lastOfAll([[]])).toBe(0);
  });

  it("is read from the URL without its invalid parts", () => {
    expect(othersOf(at("against=3,2,3,1,x,-4,0,5,6"), 1)).toEqual([3, 2, 5]);
    expect(othersOf(at(""), 1)).toEqual([]);
    expect([stepOf(at("at=2000")), stepOf(at("at=2e3")), stepOf(at(""))]).toEqual([2000, null, null]);
  });
});
