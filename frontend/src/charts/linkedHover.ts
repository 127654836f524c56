/** The hovered position, shared by all charts of a page that have the same x axis. */

import type { PlotlyHTMLElement } from "plotly.js";
import type { PlotlyLibrary } from "./plotly";

/** Functions that Plotly exports without types. */
interface Hovering {
  Fx: {
    hover: (element: PlotlyHTMLElement, at: { xval: unknown }, subplot: string, silent: boolean) => void;
    unhover: (element: PlotlyHTMLElement) => void;
  };
}

interface LinkedChart {
  axis: string;
  show: (x: unknown) => void;
  hide: () => void;
}

const charts = new Set<LinkedChart>();
let waiting = 0;

/** Share the hovered position with charts of the same axis. Return a function that ends this. */
export function linkHover(library: PlotlyLibrary, element: PlotlyHTMLElement, axis: string): () => void {
  const { Fx } = library as unknown as Hovering;
  const chart: LinkedChart = {
    axis,
    show: (x) => {
      if (isOnScreen(element)) Fx.hover(element, { xval: x }, "xy", true);
    },
    hide: () => Fx.unhover(element),
  };
  const others = () => [...charts].filter((other) => other !== chart && other.axis === axis);
  const onHover = ({ xvals: [x] }: { xvals: readonly unknown[] }) =>
    onNextFrame(() => others().forEach((other) => other.show(x)));
  const onUnhover = () => onNextFrame(() => others().forEach((other) => other.hide()));
  element.on("plotly_hover", onHover);
  element.on("plotly_unhover", onUnhover);
  charts.add(chart);
  return () => {
    charts.delete(chart);
    element.removeAllListeners("plotly_hover");
    element.removeAllListeners("plotly_unhover");
  };
}

/** Run the latest callback before the next frame. */
function onNextFrame(callback: () => void): void {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(callback);
}

function isOnScreen(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}
