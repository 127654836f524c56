import { partsOf } from "@/api/figures";
import type { Figure } from "@/api/types";

/** Figures whose x axis is as important as the y axis. */
const PAIRS = ["figures/metric-by-metric", "figures/scatter"];

const TITLES: Record<string, string> = {
  "figures/percentiles": "Percentiles over seeds",
  "figures/metric-by-metric": "Metric against metric",
  "figures/scatter": "One point per run",
  "figures/episode-histogram": "Returns of episodes",
  "figures/action-shares": "Actions in replays",
  "figures/profile": "Performance profile",
  "figures/sample-efficiency": "Sample efficiency",
  "figures/evaluations": "Evaluations",
  "figures/evaluation-scores": "Scores of an evaluation",
  "figures/calibrations": "Error of the critic",
  "figures/calibration": "Calibration of the critic",
};

/** Return the title of a chart: its y axis, or a name from its URL until it is drawn. */
export function titleOf(address: string, figure?: Figure): string {
  const { path } = partsOf(address);
  const [x, y] = [axisTitle(figure, "xaxis"), axisTitle(figure, "yaxis")];
  if (path === "figures/episode-histogram" || y === undefined) return titleAt(address);
  if (path === "figures/percentiles") return `${y}, percentiles`;
  return PAIRS.includes(path) && x !== undefined ? `${y} by ${lowered(x)}` : y;
}

/** Return a title within a sentence. Abbreviations keep their letters. */
const lowered = (title: string) =>
  /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;

function axisTitle(figure: Figure | undefined, name: "xaxis" | "yaxis"): string | undefined {
  const axis = figure?.layout[name] as { title?: { text?: string } } | undefined;
  return axis?.title?.text;
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
