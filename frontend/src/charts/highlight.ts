/** Curves of one run that stand out in all charts of the page. */

import classes from "./charts.module.css";

const charts = new Set<Element>();
let highlighted: number | null = null;

/** Fade the curves of all other runs, or of none. A chart without the run does not change. */
export function highlightRun(run: number | null): void {
  if (run === highlighted) return;
  highlighted = run;
  charts.forEach(showHighlight);
}

/** Show highlights in a drawn chart. Return a function that stops this. */
export function followHighlight(chart: Element): () => void {
  charts.add(chart);
  return () => charts.delete(chart);
}

/** Show the highlight again after the chart was drawn. Changing classes is cheap, and draws nothing. */
export function showHighlight(chart: Element): void {
  const traces = [...chart.querySelectorAll(".scatterlayer .trace")];
  // Plotly writes the uid of a trace, which starts with the run's number, into its class.
  const isOwn = (trace: Element) => trace.getAttribute("class")?.includes(`trace${highlighted}-`) ?? false;
  const fades = highlighted !== null && traces.some(isOwn);
  for (const trace of traces) trace.classList.toggle(classes.faded ?? "", fades && !isOwn(trace));
}
