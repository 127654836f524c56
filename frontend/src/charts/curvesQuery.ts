import { figureQuery } from "@/api/figures";
import { type CurveView, figureRequest, type Zoom } from "./curveView";
import type { Chart } from "./metrics";

const BUCKETS = 400;

/** The curves of a chart, as its figure fetches them. */
export function curvesQuery(
  runs: readonly number[],
  { metrics, shares = false, counts = false }: Chart,
  view: CurveView,
  zoom: Zoom | null,
  ownColors = false,
) {
  const look = {
    ...figureRequest(counts ? { ...view, smoothing: 0 } : view, zoom, BUCKETS, runs.length > 1),
    ...(ownColors && { colors: "run" as const }),
  };
  return figureQuery(runs, metrics, shares, look);
}
