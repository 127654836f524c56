import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { readZoom, writeZoom, type Zoom } from "./curveView";

/** The zoom of a chart, kept in the page's URL so that a link shows the same part. */
export function useZoom(metric: string, xLog: boolean): [Zoom | null, (zoom: Zoom | null) => void] {
  const [search, setSearch] = useSearchParams();
  const zoom = useMemo(() => readZoom(search, metric, xLog), [search, metric, xLog]);
  const change = useCallback(
    (next: Zoom | null) => setSearch((current) => writeZoom(current, metric, next), { replace: true }),
    [setSearch, metric],
  );
  return [zoom, change];
}
