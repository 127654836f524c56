import classes from "./compare.module.css";

/** Dash and gap lengths of Plotly's named patterns. Other patterns are lengths in pixels. */
const PATTERNS: Record<string, string> = {
  solid: "",
  dot: "2 3",
  dash: "6 3",
  longdash: "9 3",
  dashdot: "6 3 2 3",
  longdashdot: "9 3 2 3",
};

/** Sample of a run's line in the chart. More than eight runs are distinguished by dashes. */
export function RunStroke({ run }: { run: { color: string; dash: string } }) {
  const pattern = PATTERNS[run.dash] ?? run.dash.replaceAll("px", "").replaceAll(",", " ");
  return (
    <svg className={classes.stroke} viewBox="0 0 24 8" aria-hidden>
      <line x1="0" y1="4" x2="24" y2="4" stroke={run.color} strokeWidth="3" strokeDasharray={pattern} />
    </svg>
  );
}
