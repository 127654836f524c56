import { expect, it } from "vitest";
import { partsOf } from "@/api/figures";
import { figureKind } from "@/testing/figureKinds";
import { readChoice, writeChoice } from "./chartChoice";

const sorted = (address: string) => [...partsOf(address).query].sort();

it.each([
  "scatter?runs=1,2&x=learning_rate&y=best_return+%2F+hours&x_log=true",
  "metric-by-metric?runs=1&x_metric=train/entropy&y_metric=episode/return&smoothing=0.6&buckets=50",
  "curves?runs=1,2&metric=train/entropy&x=step&smoothing=0&ancestry=true&group=seed&center=iqm&band=range",
  "percentiles?runs=1,2&metric=train/entropy&x=time&smoothing=0&buckets=400&from=5&to=9",
  "sample-efficiency?runs=1,2&center=mean&group_by=learning_rate",
  "episode-histogram?runs=1,2",
  "action-shares?runs=7",
])("writes what it reads: %s", (figure) => {
  const address = `/api/v1/figures/${figure}`;
  const kind = figureKind(figure.split("?")[0] ?? "");
  const written = writeChoice(kind, readChoice(kind, address), address);
  expect(partsOf(written).path).toBe(partsOf(address).path);
  expect(sorted(written)).toEqual(sorted(address));
});

it("drops parameters that another chart does not have", () => {
  const before = "/api/v1/figures/curves?runs=1,2&metric=train/entropy&ancestry=true&group=seed&seeds=true";
  const written = writeChoice(figureKind("percentiles"), readChoice(figureKind("curves"), before), before);
  expect([...partsOf(written).query.keys()].sort()).toEqual(["metric", "runs", "smoothing", "x"]);
});

it("drops the zoom of another horizontal axis", () => {
  const kind = figureKind("curves");
  const before = "/api/v1/figures/curves?runs=1&from=5&to=9";
  const choice = readChoice(kind, before);
  const written = writeChoice(kind, { ...choice, view: { ...choice.view, x: "time" } }, before);
  expect(partsOf(written).query.has("from")).toBe(false);
});
