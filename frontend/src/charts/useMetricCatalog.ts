import { useQuery } from "@tanstack/react-query";
import { metricCatalogQuery } from "@/api/metrics";
import type { Catalog } from "./metrics";

const NOTHING_YET: Catalog = [];

/** Return the server's catalog of metrics. It is empty until loaded. Titles are then made from names. */
export function useMetricCatalog(): Catalog {
  return useQuery(metricCatalogQuery).data ?? NOTHING_YET;
}
