import type { PlotlyHTMLElement } from "plotly.js";

/** Replaces Plotly, which needs a canvas that jsdom lacks. Tests spy on its functions. */
const plotly = {
  react(element: HTMLElement, data: unknown[], layout: Record<string, unknown>): void {
    Object.assign(element, { on: () => undefined, removeAllListeners: () => undefined, data, layout });
  },
  relayout: (_element: PlotlyHTMLElement, _changes: object): void => undefined,
  toImage: (_element: PlotlyHTMLElement, _options: object): Promise<string> => Promise.resolve(""),
  Fx: { hover: (): void => undefined, unhover: (): void => undefined },
  Plots: { resize: (): void => undefined },
  purge: (): void => undefined,
};

export default plotly;
