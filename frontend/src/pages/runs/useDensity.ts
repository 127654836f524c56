import { useLocalStorage } from "@mantine/hooks";
import { createContext, use } from "react";

export type Density = "comfortable" | "compact";

/** Height of a row in pixels. */
export const ROW_HEIGHTS: Record<Density, number> = { comfortable: 48, compact: 32 };

/** Density of the rows that a cell is in. */
export const RowDensity = createContext<Density>("comfortable");
export const useRowDensity = () => use(RowDensity);

/** Return the density of the run table, which the browser keeps, and a function that changes it. */
export function useDensity() {
  return useLocalStorage<Density>({
    key: "arcadia-run-density",
    defaultValue: "comfortable",
    getInitialValueInEffect: false,
  });
}
