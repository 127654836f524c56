/** The x axis of the figure at an address of the API. */

import { joinParts, partsOf, TRAINING_FIGURES } from "@/api/figures";
import type { Zoom } from "./curveView";

/** Return the name of the quantity on the x axis. Charts with the same name can share zoom and hover. */
export function axisOf(address: string): string {
  const { path, query } = partsOf(address);
  if (TRAINING_FIGURES.includes(path)) return query.get("x") ?? "step";
  switch (path) {
    case "figures/sample-efficiency":
    case "figures/action-shares":
      return "step";
    case "figures/episode-histogram":
    case "figures/profile":
      return "return";
    case "figures/metric-by-metric":
      return `metric:${query.get("x_metric") ?? ""}`;
    case "figures/scatter":
      return `run:${query.get("x") ?? ""}`;
    default:
      return path;
  }
}

/** Return the address of the figure with finer data for a zoom, if it has such data. */
export function zoomedAddress(address: string, zoom: Zoom | null): string {
  const { path, query } = partsOf(address);
  if (zoom === null || !TRAINING_FIGURES.includes(path)) return address;
  query.set("from", String(zoom[0]));
  query.set("to", String(zoom[1]));
  return joinParts(path, query);
}
