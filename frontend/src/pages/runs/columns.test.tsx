import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { CATALOG } from "@/testing/catalog";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { includedInColumns, metricsInColumns, resolveColumns, valuesOfColumns } from "./columns";
import { computedName } from "./computedColumns";

const NO_TITLES = new Map<string, string>();
const shown = (...columns: string[]) =>
  resolveColumns(CATALOG, NO_TITLES, columns).map(({ id, width }) => `${id} ${width}`);

it("puts the run and the pinned columns first, in the user's order and widths", () => {
  expect(shown("env~90", "name~300", "tags!", "state")).toEqual([
    "name 300",
    "tags 124",
    "env 90",
    "state 148",
  ]);
  expect(shown("state")[0]).toMatch(/^name /);
  expect(shown("name", "gone")).toEqual(["name 232"]);
});

it("shows and sorts by any statistic of any metric and any hyperparameter", () => {
  const [, entropy, rate, unknown] = resolveColumns(CATALOG, new Map([["learning_rate", "Learning rate"]]), [
    "name",
    "metric.train/entropy.min~90",
    "config.learning_rate",
    "config.lr_of_a_script",
  ]);
  expect(entropy).toMatchObject({
    title: "Policy entropy, min",
    sort: "metric:train/entropy:min",
    width: 90,
  });
  expect(rate).toMatchObject({ title: "Learning rate", sort: "config:learning_rate" });
  expect(unknown?.title).toBe("lr_of_a_script");
});

it("shows memory in MiB", () => {
  const [, memory] = resolveColumns(CATALOG, NO_TITLES, ["name", "metric.system/rss_bytes.max"]);
  const extent = { last: 1, min: 1, max: 681_574_400 };
  const cell = memory?.cell({ ...aRun(), metrics: { "system/rss_bytes": extent } });
  renderPage(<>{cell}</>);
  expect(memory?.title).toBe("Memory, max");
  expect(screen.getByText("650 MiB")).toBeTruthy();
});

it("lists each metric in the columns once", () => {
  const columns = [
    "metric.a/b.last",
    "metric.a/b.max~90!",
    "metric.c.d.min",
    "config.metric",
    "metric.a/b.mean",
  ];
  expect(metricsInColumns(columns)).toEqual(["a/b", "c.d"]);
});

it("lists each setting in the columns once, and all settings if there are too many", () => {
  expect(includedInColumns(["state", "config.seed~90!", "config.seed", "metric.a/b.last"])).toEqual([
    "config.seed",
  ]);
  expect(includedInColumns(Array.from({ length: 51 }, (_, at) => `config.field_${at}`))).toEqual(["config"]);
});

it("includes the notes only if they have a column", () => {
  expect(includedInColumns(["notes~90", "config.seed"])).toEqual(["config.seed", "notes"]);
});

it("sorts by names with commas in quotes", () => {
  const [, metric, field] = resolveColumns(CATALOG, NO_TITLES, [
    "name",
    "metric.loss, mean.last",
    "config.a,b",
  ]);
  expect([metric?.sort, field?.sort]).toEqual(['last("loss, mean")', 'config("a,b")']);
});

it("shows and sorts by a computed column", () => {
  const [, titled, plain] = resolveColumns(CATALOG, NO_TITLES, [
    "name",
    "compute.Efficiency=best_return / hours~90",
    "compute.=return + 1",
  ]);
  expect(titled).toMatchObject({ title: "Efficiency", sort: "(best_return / hours)", width: 90 });
  expect(plain?.title).toBe("return + 1");
  const run = { ...aRun(), computed: { [computedName("return + 1")]: 4.5 } };
  renderPage(<>{plain?.cell(run)}</>);
  expect(screen.getByText("4.5")).toBeTruthy();
  expect(valuesOfColumns(["compute.=return + 1", "metric.a/b.last", "notes"])).toEqual({
    metric: ["a/b"],
    include: ["notes"],
    compute: [`${computedName("return + 1")} = return + 1`],
  });
});
