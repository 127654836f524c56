import { describe, expect, it } from "vitest";
import type { ListedGroup } from "@/api/types";
import {
  ALL_IN_ONE,
  chartsByEnvironment,
  curvesText,
  drawnFields,
  drawnGroups,
  drawnRuns,
  groupCurvesText,
  toggleCurve,
  togglePin,
} from "./curveRuns";

const NOTHING = { pinned: [], hidden: [], shown: [] };
const LISTED = Array.from({ length: 50 }, (_, at) => at + 1);

const aGroup = (runs: number, ids: number): ListedGroup => ({
  label: "A3C",
  values: {},
  filter: "method = a3c",
  runs,
  run_ids: LISTED.slice(0, ids),
  states: {},
  seeds: [],
  newest: "2026-01-01T00:00:00Z",
  statistics: {},
});

describe("the runs with curves", () => {
  it("are the first ten, and pinned runs before them", () => {
    expect(drawnRuns(LISTED, NOTHING)).toEqual(LISTED.slice(0, 10));
    expect(drawnRuns(LISTED, { ...NOTHING, pinned: [40, 3] })).toEqual([40, 3, 1, 2, 4, 5, 6, 7, 8, 9, 10]);
  });

  it("are followed by the next one if one is hidden", () => {
    const hidden = toggleCurve(LISTED, NOTHING, 2);
    expect(hidden.hidden).toEqual([2]);
    expect(drawnRuns(LISTED, hidden)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(toggleCurve(LISTED, hidden, 2)).toEqual(NOTHING);
  });

  it("include a later run that is shown, until it is hidden again", () => {
    const shown = toggleCurve(LISTED, NOTHING, 30);
    expect(drawnRuns(LISTED, shown)).toContain(30);
    expect(drawnRuns(LISTED, toggleCurve(LISTED, shown, 30))).not.toContain(30);
  });

  it("are at most thirty", () => {
    expect(drawnRuns(LISTED, { ...NOTHING, shown: LISTED })).toHaveLength(30);
  });

  it("show a hidden run that is pinned", () => {
    const pinned = togglePin({ ...NOTHING, hidden: [4] }, 4);
    expect(pinned).toEqual({ pinned: [4], hidden: [], shown: [] });
    expect(togglePin(pinned, 4)).toEqual(NOTHING);
  });

  it("are described in words", () => {
    expect(curvesText([1, 2], 2)).toBe("Curves of all 2 runs.");
    expect(curvesText(LISTED.slice(0, 10), 1324)).toMatch(/^Curves of 10 of 1\.3 k runs: the first 10,/);
  });
});

describe("the groups with curves", () => {
  it("are the first ten that have at most 100 runs together", () => {
    expect(drawnGroups(Array.from({ length: 12 }, () => aGroup(3, 3)))).toHaveLength(10);
    expect(drawnGroups(Array.from({ length: 12 }, () => aGroup(90, 20)))).toHaveLength(5);
  });

  it("are grouped by settings", () => {
    expect(drawnFields(["method", "state", "learning_rate"])).toEqual(["algorithm", "learning_rate"]);
  });

  it("are described with what is left out", () => {
    expect(groupCurvesText([aGroup(3, 3)], 1, ["env"])).toBe(
      "1 group: the mean of each, with its 95 % interval.",
    );
    expect(groupCurvesText([aGroup(90, 20)], 4, ["env", "state"])).toBe(
      "The first 1 of 4 groups: the mean of each, with its 95 % interval. Large groups show their newest runs. " +
        "Curves cannot be grouped by state.",
    );
  });
});

describe("the charts of a metric", () => {
  const environments = new Map([
    [1, "ALE/Pong-v5"],
    [2, "CartPole-v1"],
    [3, "CartPole-v1"],
  ]);

  it("are one for each environment, with the most runs first", () => {
    expect(chartsByEnvironment([1, 2, 3], environments, "")).toEqual([
      { env: "CartPole-v1", runs: [2, 3] },
      { env: "ALE/Pong-v5", runs: [1] },
    ]);
    expect(chartsByEnvironment([2, 3], environments, "")).toEqual([{ env: null, runs: [2, 3] }]);
  });

  it("can be of one environment, or of all together", () => {
    expect(chartsByEnvironment([1, 2, 3], environments, "ALE/Pong-v5")).toEqual([
      { env: "ALE/Pong-v5", runs: [1] },
    ]);
    expect(chartsByEnvironment([1, 2, 3], environments, ALL_IN_ONE)).toEqual([
      { env: null, runs: [1, 2, 3] },
    ]);
    expect(chartsByEnvironment([1, 2], environments, "Gone-v0")).toHaveLength(2);
  });
});
