import { expect, it } from "vitest";
import { kindAt } from "@/api/figures";
import { FIGURE_KINDS } from "@/testing/figureKinds";
import { axisOf, titleOf, zoomedAddress } from "./figureKind";

const kindOf = (address: string) => kindAt(FIGURE_KINDS, address);
const titleAt = (address: string, ...figure: Parameters<typeof titleOf>[2][]) =>
  titleOf(kindOf(address), address, ...figure);

it("names a drawn chart by its axes", () => {
  const layout = { xaxis: { title: { text: "Entropy" } }, yaxis: { title: { text: "Episode return" } } };
  const figure = { data: [], layout };
  expect(titleAt("/api/v1/figures/curves?runs=1", figure)).toBe("Episode return");
  expect(titleAt("/api/v1/figures/percentiles?runs=1", figure)).toBe("Episode return, percentiles");
  expect(titleAt("/api/v1/figures/metric-by-metric?runs=1", figure)).toBe("Episode return by entropy");
  expect(titleAt("/api/v1/figures/episode-histogram?runs=1", figure)).toBe("Returns of episodes");
  expect(titleAt("/api/v1/studies/4/figure", figure)).toBe("Episode return");
});

it("names a chart by its URL until it is drawn", () => {
  expect(titleAt("/api/v1/figures/curves?runs=1&metric=train%2Floss")).toBe("train/loss");
  expect(titleAt("/api/v1/figures/curves?runs=1")).toBe("Curve of a metric");
  expect(titleAt("/api/v1/figures/scatter?runs=1&x=frames")).toBe("One point per run");
  expect(titleAt("/api/v1/papers/a3c/figure-2/figure")).toBe("A3C, figure 2");
  expect(titleAt("/api/v1/studies/4/figure?kind=scatter")).toBe("Study 4");
  expect(titleAt("https://a.host/api/v1/studies/4/figure")).toBe("Study 4");
  for (const half of ["//", "https:", "https://", "?", "/api/v1/figures/curves?runs"])
    expect(titleAt(half)).toBeTruthy();
});

it.each([
  ["curves?runs=1", "step"],
  ["percentiles?runs=1&x=frames", "frames"],
  ["sample-efficiency?runs=1", "step"],
  ["episode-histogram?runs=1", "return"],
  ["metric-by-metric?runs=1&x_metric=train/entropy", "metric:train/entropy"],
  ["scatter?runs=1&x=learning_rate", "run:learning_rate"],
])("names the x axis of %s", (figure, axis) => {
  const address = `/api/v1/figures/${figure}`;
  expect(axisOf(kindOf(address), address)).toBe(axis);
});

it("never mixes the axes of other figures", () => {
  const [third, fourth] = ["/api/v1/studies/3/figure", "/api/v1/studies/4/figure"];
  expect(axisOf(kindOf(third), third)).not.toBe(axisOf(kindOf(fourth), fourth));
});

it("requests finer data for a zoom if the figure has such data", () => {
  const curve = "/api/v1/figures/curves?runs=1,2&from=0&to=9";
  const zoomed = "/api/v1/figures/curves?runs=1,2&from=3&to=4.5";
  expect(zoomedAddress(kindOf(curve), curve, [3, 4.5])).toBe(zoomed);
  expect(zoomedAddress(kindOf(curve), curve, null)).toBe(curve);
  const histogram = "/api/v1/figures/episode-histogram?runs=1";
  expect(zoomedAddress(kindOf(histogram), histogram, [3, 4.5])).toBe(histogram);
});
