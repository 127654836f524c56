import { expect, it } from "vitest";
import { CATALOGUE } from "@/testing/catalogue";
import { chosenColumns, metricsOf } from "./columns";

const shown = (...columns: string[]) =>
  chosenColumns(CATALOGUE, columns).map(({ id, width }) => `${id} ${width}`);

it("stand in the user's order, the run's own and the pinned ones first, as wide as the user has them", () => {
  expect(shown("env~90", "name~300", "tags!", "state")).toEqual([
    "name 300",
    "tags 104",
    "env 90",
    "state 148",
  ]);
  expect(shown("state")[0]).toMatch(/^name /);
  expect(shown("name", "gone")).toEqual(["name 196"]);
});

it("tell any statistic of any metric and any hyper-parameter, and can be sorted by it", () => {
  const [, entropy, rate] = chosenColumns(CATALOGUE, [
    "name",
    "metric.train/entropy.min~90",
    "config.learning_rate",
  ]);
  expect(entropy).toMatchObject({
    title: "Policy entropy, min",
    sort: "metric:train/entropy:min",
    width: 90,
  });
  expect(rate).toMatchObject({ title: "learning_rate", sort: "config:learning_rate" });
});

it("ask for each metric that they tell of once", () => {
  const columns = [
    "metric.a/b.last",
    "metric.a/b.max~90!",
    "metric.c.d.min",
    "config.metric",
    "metric.a/b.mean",
  ];
  expect(metricsOf(columns)).toEqual(["a/b", "c.d"]);
});
