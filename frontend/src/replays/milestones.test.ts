import { describe, expect, it } from "vitest";
import { aCheckpoint, aReplay } from "@/testing/files";
import { milestones } from "./Milestones";
import { inTrainingOrder } from "./places";

const replaysAt = (...steps: number[]) => inTrainingOrder(steps.map((step) => aReplay(step, step)));
const shown = (steps: number[], best: number | null) =>
  milestones(replaysAt(...steps), best === null ? [] : [aCheckpoint(1, best, { best: true })]).map(
    ({ title, replay }) => [title, replay.step],
  );

describe("the replays that show how an agent learned", () => {
  it("end with the best checkpoint", () => {
    expect(shown([0, 1, 2, 3, 4, 5, 6, 7], 6)).toEqual([
      ["First", 0],
      ["Early", 2],
      ["Late", 4],
      ["Best", 6],
    ]);
  });

  it("end with the newest if the best checkpoint has no replay or was an early one", () => {
    for (const best of [null, 1, 99]) expect(shown([0, 1, 2, 3], best).at(-1)).toEqual(["Newest", 3]);
  });

  it("are of four checkpoints, also if one of them was recorded twice", () => {
    const recorded = inTrainingOrder([0, 1, 2, 3, 3].map((step, place) => aReplay(place + 1, step)));
    const found = milestones(recorded, [aCheckpoint(1, 3, { best: true })]);
    expect(found.map(({ title, replay }) => [title, replay.id])).toEqual([
      ["First", 1],
      ["Early", 2],
      ["Late", 3],
      ["Best", 4],
    ]);
  });

  it("are not shown if there are fewer than four", () => {
    expect(shown([0, 1, 2], 2)).toEqual([]);
  });
});
