/** Titles and charts of metrics from the server's catalog. Unknown metrics get a title from their name. */

import type { MetricSection } from "@/api/types";
import { capitalize, isSize } from "@/ui/format";

/** Sections with their metrics in display order. */
export type Catalog = readonly MetricSection[];

/** The metric of the return of each episode. */
export const RETURN = "episode/return";
/** The metric of means over recent episodes, of scripts that log no single episodes. */
export const MEAN_RETURN = "episode/mean_return";

/** Sort metrics so that the return comes first, then metrics that a script names like one. */
export function returnsFirst(names: readonly string[]): string[] {
  const rank = (name: string) =>
    name === RETURN ? 0 : name === MEAN_RETURN ? 1 : /return|rew/i.test(name) ? 2 : 3;
  return names.toSorted((a, b) => rank(a) - rank(b));
}

/** Content of one chart of a run. */
export interface Chart {
  title: string;
  metrics: readonly string[];
  /** True to stack the metrics as shares of their sum. */
  shares?: boolean;
  /** True for whole numbers that change rarely, which smoothing would distort. */
  counts?: boolean;
}

/** Metric names under one heading. */
export interface NamesSection {
  prefix: string;
  title: string;
  names: string[];
}

/** Return every metric of the catalog, in order. */
function listed(catalog: Catalog) {
  return catalog.flatMap(({ metrics, groups = [] }) => [
    ...metrics,
    ...groups.flatMap((group) => group.metrics),
  ]);
}

const known = (catalog: Catalog, name: string) => listed(catalog).find((metric) => metric.name === name);

/** Return a metric's unit, or an empty string if its title names it or it is unknown. */
export function metricUnit(catalog: Catalog, name: string): string {
  return known(catalog, name)?.unit ?? "";
}

/** Return a metric's title with its unit. Sizes have no unit in the title, because each value has one. */
export function metricTitle(catalog: Catalog, name: string): string {
  const metric = known(catalog, name);
  if (metric) return metric.unit && !isSize(metric.unit) ? `${metric.title}, ${metric.unit}` : metric.title;
  return capitalize((name.split("/").at(-1) ?? name).replaceAll("_", " "));
}

/** Sort metrics in catalog order, followed by unknown ones by name. */
function inOrder(texts: Iterable<string>, known: readonly string[]): string[] {
  const rank = (text: string) => (known.includes(text) ? known.indexOf(text) : known.length);
  return [...texts].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

/** Group metric names by the part before the slash. */
export function metricSections(catalog: Catalog, names: readonly string[]): NamesSection[] {
  const prefixOf = (name: string) => (name.includes("/") ? (name.split("/")[0] ?? "") : "other");
  const ordered = inOrder(
    names,
    listed(catalog).map(({ name }) => name),
  );
  const prefixes = inOrder(
    new Set(names.map(prefixOf)),
    catalog.map(({ prefix }) => prefix),
  );
  return prefixes.map((prefix) => ({
    prefix,
    title: catalog.find((section) => section.prefix === prefix)?.title ?? capitalize(prefix),
    names: ordered.filter((name) => prefixOf(name) === prefix),
  }));
}

export function chartOf(catalog: Catalog, metric: string): Chart {
  return { title: metricTitle(catalog, metric), metrics: [metric] };
}

/** Return the charts of metrics. Related metrics come first and share a chart. */
export function chartsOf(catalog: Catalog, names: readonly string[]): Chart[] {
  const together = catalog
    .flatMap(({ groups = [] }) => groups)
    .map((group) => ({
      ...group,
      metrics: group.metrics.map(({ name }) => name).filter((name) => names.includes(name)),
    }))
    .filter(({ metrics }) => metrics.length > 1);
  const drawn = new Set(together.flatMap(({ metrics }) => metrics));
  return [...together, ...names.filter((name) => !drawn.has(name)).map((name) => chartOf(catalog, name))];
}
