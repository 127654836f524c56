import classes from "./compare.module.css";

/** Lengths of dashes and gaps by Plotly's names for them; other patterns are spelled out in pixels. */
const PATTERNS: Record<string, string> = {
  solid: "",
  dot: "2 3",
  dash: "6 3",
  longdash: "9 3",
  dashdot: "6 3 2 3",
  longdashdot: "9 3 2 3",
};

/** A piece of the run's line as the curves draw it: more than eight runs are told apart by their dashes. */
export function RunStroke({ run }: { run: { color: string; dash: string } }) {
  const pattern = PATTERNS[run.dash] ?? run.dash.replaceAll("px", "").replaceAll(",", " ");
  return (
    <svg className={classes.stroke} viewBox="0 0 24 8" aria-hidden>
      <line x1="0" y1="4" x2="24" y2="4" stroke={run.color} strokeWidth="3" strokeDasharray={pattern} />
    </svg>
  );
}
