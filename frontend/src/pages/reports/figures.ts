import { partsOf } from "@/api/reports";
import type { Figure } from "@/api/types";

const TITLES: Record<string, string> = {
  "figures/profile": "Performance profile",
  "figures/sample-efficiency": "Sample efficiency",
  "figures/evaluations": "Evaluations",
  "figures/evaluation-scores": "Scores of an evaluation",
};

/** Return the title of a chart: its y axis, or a name from its URL until it is drawn. */
export function titleOf(address: string, figure?: Figure): string {
  const axis = figure?.layout["yaxis"] as { title?: { text?: string } } | undefined;
  return axis?.title?.text ?? titleAt(address);
}

function titleAt(address: string): string {
  const { path, query } = partsOf(address);
  const metric = query.get("metric") ?? query.get("metrics");
  if (path === "figures/curves") return metric ?? "episode/return";
  if (path === "figures/together") return metric ?? "Metrics";
  const [root, first, second] = path.split("/");
  if (root === "studies") return `Study ${first}`;
  if (root === "papers") return `${first?.toUpperCase()}, ${second?.replaceAll("-", " ")}`;
  return TITLES[path] ?? (first || "Chart");
}
