/** Plotly, loaded when the first chart becomes visible. */

import { importWithRetries } from "@/ui/loadCode";
import type * as Plotly from "plotly.js";

export type PlotlyLibrary = typeof Plotly;

let loading: Promise<PlotlyLibrary> | undefined;

export function loadPlotly(): Promise<PlotlyLibrary> {
  loading ??= importWithRetries(() => import("plotly.js-cartesian-dist-min"))
    .then((module) => module.default)
    .catch((error: unknown) => {
      loading = undefined; // the next chart tries again
      throw error;
    });
  return loading;
}
