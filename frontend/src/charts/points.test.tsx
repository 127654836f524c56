import { expect, it } from "vitest";
import { type Asked, refusal, serve } from "@/testing/server";
import { drawnRows, metricRows, ROW_HEADER, rowsOf } from "./points";

const answer = {
  run_id: 3,
  x: "step",
  cursor: null,
  series: {
    "a/b": {
      resolution: "raw",
      total: 2,
      x: [1, 2],
      mean: [0.5, "NaN"],
      min: [0, 1],
      max: [1, 2],
      last: [1, 2],
      count: [4, 5],
    },
  },
} as const;

it("returns a row for each point, and keeps NaN", () => {
  expect(rowsOf(answer as never)).toEqual([
    [3, "a/b", 1, 0.5, 0, 1, 1, 4],
    [3, "a/b", 2, "NaN", 1, 2, 2, 5],
  ]);
});

it("requests the shown range, in seconds on the time axis", async () => {
  const server = serve({ "GET /runs/3/metric-names": ["a/b"], "GET /runs/3/metrics": answer });
  await metricRows(3, ["a/b"], "time", [1800, 7200]);
  await metricRows(3, ["a/b"], "step", null);
  const asked = server.of("GET /runs/3/metrics").map(({ query }) => query);
  expect([asked[0]?.get("from"), asked[0]?.get("to")]).toEqual(["1800", "7200"]);
  expect(asked[1]?.has("from")).toBe(false);
  expect(ROW_HEADER("time")[2]).toBe("seconds");
});

it("requests only reported metrics, because an ended run refuses others", async () => {
  const server = serve({
    "GET /runs/3/metric-names": ["a/b", "c"],
    "GET /runs/3/metrics": ({ query }: Asked) =>
      query.get("names") === "a/b" ? answer : refusal(404, "No such metric."),
  });
  expect(await metricRows(3, ["never", "a/b"], "step", null)).toHaveLength(2);
  expect(await metricRows(3, ["never"], "step", null)).toEqual([]);
  expect(server.of("GET /runs/3/metrics")).toHaveLength(1);
});

it("has a row for each mark of a figure", () => {
  const bars = {
    name: "Learning",
    x: ["16", "32"],
    y: [30, 20],
    hovertext: ["n_e 16: 30", "n_e 32"],
  };
  expect(drawnRows({ data: [bars, { x: [1], y: [2] }], layout: {} })).toEqual([
    ["Learning", "16", 30, "n_e 16: 30"],
    ["Learning", "32", 20, "n_e 32"],
    [undefined, 1, 2, undefined],
  ]);
});
