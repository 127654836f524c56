import { expect, it } from "vitest";
import { axisOf, zoomedAddress } from "./figureAxis";

it.each([
  ["curves?runs=1", "step"],
  ["percentiles?runs=1&x=frames", "frames"],
  ["sample-efficiency?runs=1", "step"],
  ["episode-histogram?runs=1", "return"],
  ["metric-by-metric?runs=1&x_metric=train/entropy", "metric:train/entropy"],
  ["scatter?runs=1&x=learning_rate", "run:learning_rate"],
])("names the x axis of %s", (figure, axis) => {
  expect(axisOf(`/api/v1/figures/${figure}`)).toBe(axis);
});

it("never mixes the axes of other figures", () => {
  expect(axisOf("/api/v1/studies/3/figure")).not.toBe(axisOf("/api/v1/studies/4/figure"));
});

it("requests finer data for a zoom if the figure has such data", () => {
  const curve = "/api/v1/figures/curves?runs=1,2&from=0&to=9";
  expect(zoomedAddress(curve, [3, 4.5])).toBe("/api/v1/figures/curves?runs=1,2&from=3&to=4.5");
  expect(zoomedAddress(curve, null)).toBe(curve);
  const histogram = "/api/v1/figures/episode-histogram?runs=1";
  expect(zoomedAddress(histogram, [3, 4.5])).toBe(histogram);
});
