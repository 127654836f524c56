/** Hours of use: their names, sums, and the chart of the months. */

import type { Figure, UsageTable } from "@/api/types";
import type { UsageGroup } from "@/api/usage";

export type Measure = "core_hours" | "gpu_hours";
type Row = UsageTable["rows"][number];

/** Number of groups with their own color. The others are drawn together. */
const MOST_COLORS = 8;
const OTHERS = "Others";
// The colors of runs, and gray for the others.
const COLORS = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#d55e00",
  "#cc79a7",
  "#56b4e9",
  "#aa4499",
  "#999933",
  "#8a8f98",
];
const MISSING: Record<UsageGroup, string> = {
  person: "Without an account",
  project: "Deleted or hidden project",
  study: "Without a study",
  kind: "Other work",
};

/** Return the name of the group of a row. */
export function nameOf(row: Row, group: UsageGroup): string {
  const name = row[group];
  if (name === null) return group === "study" && row.study_id !== null ? "Deleted study" : MISSING[group];
  return group === "kind" ? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ") : name;
}

interface Total {
  name: string;
  core_hours: number;
  gpu_hours: number;
}

/** Return the sums of each group over all months, the largest first. */
export function totalsOf(table: UsageTable, group: UsageGroup): Total[] {
  const totals = new Map<string, Total>();
  for (const row of table.rows) {
    const name = nameOf(row, group);
    const total = totals.get(name) ?? { name, core_hours: 0, gpu_hours: 0 };
    total.core_hours += row.core_hours;
    total.gpu_hours += row.gpu_hours;
    totals.set(name, total);
  }
  return [...totals.values()].sort(
    (one, other) => other.core_hours - one.core_hours || one.name.localeCompare(other.name),
  );
}

/** Return a figure with one bar for each month, whose parts are the groups. */
export function drawMonths(table: UsageTable, group: UsageGroup, measure: Measure): Figure {
  const totals = totalsOf(table, group).filter((total) => total[measure] > 0);
  const largest = [...totals].sort((one, other) => other[measure] - one[measure]).slice(0, MOST_COLORS);
  const shown = new Set(largest.map(({ name }) => name));
  const months = [...new Set(table.rows.map(({ month }) => month ?? ""))].sort();
  const hours = new Map<string, number[]>();
  for (const row of table.rows) {
    const name = shown.has(nameOf(row, group)) ? nameOf(row, group) : OTHERS;
    const ofMonths = hours.get(name) ?? months.map(() => 0);
    const at = months.indexOf(row.month ?? "");
    ofMonths[at] = (ofMonths[at] ?? 0) + row[measure];
    hours.set(name, ofMonths);
  }
  const names = [...largest.map(({ name }) => name), ...(totals.length > shown.size ? [OTHERS] : [])];
  const data = names.map((name) => ({
    type: "bar",
    name,
    x: months,
    y: hours.get(name) ?? [],
    hovertemplate: "%{y:.1f} h in %{x}<extra>%{fullData.name}</extra>",
  }));
  return {
    data,
    layout: {
      barmode: "stack",
      colorway: COLORS,
      xaxis: { type: "category" },
      yaxis: { title: { text: measure === "core_hours" ? "Core hours" : "GPU hours" }, rangemode: "tozero" },
    },
  };
}

/** Return hours with one digit after the point below 100, and none above. Less than one hour has two digits. */
export const formatHours = (hours: number): string =>
  hours.toLocaleString(
    "en-US",
    hours < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: hours < 100 ? 1 : 0 },
  );
