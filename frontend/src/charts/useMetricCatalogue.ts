import { useQuery } from "@tanstack/react-query";
import { metricCatalogueQuery } from "@/api/metrics";
import type { Catalogue } from "./metrics";

const NOTHING_YET: Catalogue = [];

/** The server's catalogue of metrics. It is empty until it arrives: titles are then made from names. */
export function useMetricCatalogue(): Catalogue {
  return useQuery(metricCatalogueQuery).data ?? NOTHING_YET;
}
