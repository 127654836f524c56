/** Titles and charts of metrics from the server's catalogue. Unknown metrics get a title from their name. */

import type { MetricSection } from "@/api/types";
import { isSize } from "@/ui/format";

/** Sections, and what is in them, in the order to show them. */
export type Catalogue = readonly MetricSection[];

/** Content of one chart of a run. */
export interface Chart {
  title: string;
  metrics: readonly string[];
  /** What each metric is of their sum, stacked. */
  shares?: boolean;
  /** Whole numbers that change now and then: smoothing would show what never was. */
  counts?: boolean;
}

/** Some metric names under one heading. */
export interface NamesSection {
  prefix: string;
  title: string;
  names: string[];
}

/** Every metric that the catalogue has, in order. */
function listed(catalogue: Catalogue) {
  return catalogue.flatMap(({ metrics, groups = [] }) => [
    ...metrics,
    ...groups.flatMap((group) => group.metrics),
  ]);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const known = (catalogue: Catalogue, name: string) =>
  listed(catalogue).find((metric) => metric.name === name);

/** What a metric counts in; empty where its title says it, or nothing is known. */
export function metricUnit(catalogue: Catalogue, name: string): string {
  return known(catalogue, name)?.unit ?? "";
}

/** A metric's title with its unit, but for that of sizes, which stands beside each value. */
export function metricTitle(catalogue: Catalogue, name: string): string {
  const metric = known(catalogue, name);
  if (metric) return metric.unit && !isSize(metric.unit) ? `${metric.title}, ${metric.unit}` : metric.title;
  return capitalised((name.split("/").at(-1) ?? name).replaceAll("_", " "));
}

/** Sorts what the catalogue has by its order, and puts everything else behind it, by name. */
function inOrder(texts: Iterable<string>, known: readonly string[]): string[] {
  const rank = (text: string) => (known.includes(text) ? known.indexOf(text) : known.length);
  return [...texts].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** Metric names by the part before the slash. */
export function metricSections(catalogue: Catalogue, names: readonly string[]): NamesSection[] {
  const prefixOf = (name: string) => (name.includes("/") ? (name.split("/")[0] ?? "") : "other");
  const ordered = inOrder(
    names,
    listed(catalogue).map(({ name }) => name),
  );
  const prefixes = inOrder(
    new Set(names.map(prefixOf)),
    catalogue.map(({ prefix }) => prefix),
  );
  return prefixes.map((prefix) => ({
    prefix,
    title: catalogue.find((section) => section.prefix === prefix)?.title ?? capitalised(prefix),
    names: ordered.filter((name) => prefixOf(name) === prefix),
  }));
}

export function chartOf(catalogue: Catalogue, metric: string): Chart {
  return { title: metricTitle(catalogue, metric), metrics: [metric] };
}

/** The charts of some metrics: those that belong together first, in one chart as soon as two of them are there. */
export function chartsOf(catalogue: Catalogue, names: readonly string[]): Chart[] {
  const together = catalogue
    .flatMap(({ groups = [] }) => groups)
    .map((group) => ({
      ...group,
      metrics: group.metrics.map(({ name }) => name).filter((name) => names.includes(name)),
    }))
    .filter(({ metrics }) => metrics.length > 1);
  const drawn = new Set(together.flatMap(({ metrics }) => metrics));
  return [...together, ...names.filter((name) => !drawn.has(name)).map((name) => chartOf(catalogue, name))];
}
