import { address } from "./client";

/** Where a figure can be asked for by others, such as a notebook. */
export interface FigureAddress extends Record<string, unknown> {
  figure: string;
}

export function figureAt(path: string, query: Record<string, unknown>): FigureAddress {
  return { figure: address(path, query) };
}
