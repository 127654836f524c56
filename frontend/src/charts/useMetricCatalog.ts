import { useQuery } from "@tanstack/react-query";
import { metricCatalogQuery } from "@/api/metrics";
import type { Catalog } from "./metrics";

const NOTHING_YET: Catalog = [];

/** The server's catalog of metrics. It is empty until it arrives: titles are then made from names. */
export function useMetricCatalog(): Catalog {
  return useQuery(metricCatalogQuery).data ?? NOTHING_YET;
}
