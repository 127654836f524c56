/** Kinds of figures from the server, which name the chart at an address and its x axis. */

import { useQuery } from "@tanstack/react-query";
import { figureKindsQuery, joinParts, kindAt, partsOf } from "@/api/figures";
import type { Figure, FigureKind } from "@/api/types";
import type { Zoom } from "./curveView";

const NOTHING_YET: readonly FigureKind[] = [];

/** Return the kinds of figures that the server draws. The list is empty until loaded. */
export function useFigureKinds(): readonly FigureKind[] {
  return useQuery(figureKindsQuery).data ?? NOTHING_YET;
}

export const useFigureKind = (address: string) => kindAt(useFigureKinds(), address);

/** Replace each {name} in a template. Return undefined if a value is missing. */
function fill(template: string, valueOf: (name: string) => string | null | undefined): string | undefined {
  const values = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => valueOf(name));
  if (values.some((value) => !value)) return undefined;
  return template.replaceAll(/\{\w+\}/g, () => values.shift() ?? "");
}

/** Return the title of a chart from its axes, or a name from its URL until it is drawn. */
export function titleOf(kind: FigureKind | undefined, address: string, figure?: Figure): string {
  const { path, query } = partsOf(address);
  const y = axisTitle(figure, "yaxis") ?? query.get("metric") ?? query.get("metrics");
  const titles = { x: lowered(axisTitle(figure, "xaxis") ?? ""), y };
  if (kind) return fill(kind.heading, (name) => titles[name as "x" | "y"]) ?? kind.label;
  if (y) return y;
  const [root, first, second] = path.split("/");
  if (root === "studies") return `Study ${first}`;
  if (root === "papers") return `${first?.toUpperCase()}, ${second?.replaceAll("-", " ")}`;
  return first || "Chart";
}

/** Return a title within a sentence. Abbreviations keep their letters. */
const lowered = (title: string) =>
  /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;

function axisTitle(figure: Figure | undefined, name: "xaxis" | "yaxis"): string | undefined {
  const axis = figure?.layout[name] as { title?: { text?: string } } | undefined;
  return axis?.title?.text;
}

/** Return the name of the quantity on the x axis. Charts with the same name can share zoom and hover. */
export function axisOf(kind: FigureKind | undefined, address: string): string {
  const { path, query } = partsOf(address);
  return kind ? (fill(kind.axis, (name) => query.get(name)) ?? "step") : path;
}

/** Return the address of the figure with finer data for a zoom, if it has such data. */
export function zoomedAddress(kind: FigureKind | undefined, address: string, zoom: Zoom | null): string {
  if (zoom === null || !kind?.streams) return address;
  const { path, query } = partsOf(address);
  query.set("from", String(zoom[0]));
  query.set("to", String(zoom[1]));
  return joinParts(path, query);
}
