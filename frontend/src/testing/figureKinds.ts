import type { FigureKind } from "@/api/types";

const CURVE = ["runs", "x", "from", "to", "smoothing", "buckets", "x_log", "y_log", "clip"];

const kind = (
  name: string,
  label: string,
  parameters: string[],
  traits: Partial<FigureKind> = {},
): FigureKind => ({
  name,
  label,
  title: label,
  parameters,
  streams: parameters.includes("buckets") && parameters.includes("x"),
  heading: "{y}",
  axis: "{x}",
  one_run: false,
  in_editors: true,
  follows_files: false,
  empty: null,
  ...traits,
});

/** Some of the kinds of figures that the server lists. */
export const FIGURE_KINDS: FigureKind[] = [
  kind("curves", "Curve of a metric", [
    ...["metric", "ancestry", "group", "band", "center", "seeds", "group_by", "colors"],
    ...CURVE,
  ]),
  kind("together", "Several metrics", ["metrics", "shares", ...CURVE], { one_run: true, in_editors: false }),
  kind("percentiles", "Percentiles over seeds", ["metric", "group_by", ...CURVE], {
    heading: "{y}, percentiles",
  }),
  kind(
    "metric-by-metric",
    "Metric against metric",
    ["runs", "x_metric", "y_metric", "from", "to", "smoothing", "buckets", "x_log", "y_log", "clip"],
    { heading: "{y} by {x}", axis: "metric:{x_metric}" },
  ),
  kind("scatter", "One point per run", ["runs", "x", "y", "x_log", "y_log", "clip"], {
    heading: "{y} by {x}",
    axis: "run:{x}",
    empty: "None of these runs has both values yet. Choose other values, or wait for results.",
  }),
  kind("episode-histogram", "Returns of episodes", ["runs", "from", "to", "group_by"], {
    heading: "Returns of episodes",
    axis: "return",
  }),
  kind("action-shares", "Actions in replays", ["runs"], { axis: "step", one_run: true, follows_files: true }),
  kind("evaluations", "Evaluations of a run", CURVE, { one_run: true, follows_files: true }),
  kind("sample-efficiency", "Sample efficiency", ["runs", "center", "group_by"], { axis: "step" }),
  kind("calibrations", "Error of the critic", ["measure", ...CURVE], {
    in_editors: false,
    follows_files: true,
  }),
];

/** Return the kind with a name. */
export function figureKind(name: string): FigureKind {
  const found = FIGURE_KINDS.find((each) => each.name === name);
  if (!found) throw new Error(`FIGURE_KINDS has no ${name}`);
  return found;
}
