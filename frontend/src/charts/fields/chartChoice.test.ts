import { expect, it } from "vitest";
import { readChoice, writeChoice } from "./chartChoice";

it.each([
  "/api/v1/figures/scatter?runs=1,2&x=learning_rate&y=best_return+%2F+hours&x_log=true",
  "/api/v1/figures/metric-by-metric?runs=1&x_metric=train/entropy&y_metric=episode/return&smoothing=0.6",
  "/api/v1/figures/percentiles?runs=1,2&metric=train/entropy&x=time&smoothing=0&buckets=400",
  "/api/v1/figures/episode-histogram?runs=1,2",
  "/api/v1/figures/action-shares?runs=7",
])("writes what it reads: %s", (address) => {
  const written = writeChoice(address, readChoice(address));
  expect(new URLSearchParams(written)).toEqual(new URLSearchParams(address));
});

it("drops parameters that another chart does not have", () => {
  const before = "/api/v1/figures/curves?runs=1,2&metric=train/entropy&ancestry=true&group=seed&seeds=true";
  const choice = { ...readChoice(before), path: "figures/percentiles" };
  const { searchParams } = new URL(writeChoice(before, choice), "http://arcadia");
  expect([...searchParams.keys()].sort()).toEqual(["buckets", "metric", "runs", "smoothing", "x"]);
});
