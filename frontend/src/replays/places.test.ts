import { expect, it } from "vitest";
import type { Replay } from "@/api/types";
import { inTrainingOrder, newestFirst, spread, stepped } from "./places";

const replay = (id: number, step: number) => ({ id, step, file_id: id + 100 }) as Replay;

it("sorts replays by step, then by recording time", () => {
  const replays = [replay(3, 500), replay(1, 100), replay(2, 500)];
  expect(inTrainingOrder(replays).map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(newestFirst(replays)[0]?.id).toBe(3);
});

it("omits a replay whose file was deleted", () => {
  expect(inTrainingOrder([replay(1, 100), { ...replay(2, 200), file_id: null }])).toHaveLength(1);
});

it("spreads panels from the first replay to the newest", () => {
  expect(spread(1, 9)).toEqual([8]);
  expect(spread(2, 9)).toEqual([0, 8]);
  expect(spread(4, 10)).toEqual([0, 3, 6, 9]);
  expect(spread(3, 0)).toEqual([]);
});

it("repeats a replay if there are more panels than replays", () => {
  expect(spread(3, 2)).toEqual([0, 1, 1]);
  expect(spread(4, 1)).toEqual([0, 0, 0, 0]);
});

it("stays within bounds at both ends", () => {
  expect([stepped(0, -1, 5), stepped(4, 1, 5), stepped(2, 1, 5), stepped(0, 1, 0)]).toEqual([0, 4, 3, 0]);
});
