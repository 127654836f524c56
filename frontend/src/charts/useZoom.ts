import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { readZoom, writeZoom, type Zoom } from "./curveView";

/** Return the zoom of a chart, stored in the URL. */
export function useZoom(metric: string, xLog: boolean): [Zoom | null, (zoom: Zoom | null) => void] {
  const [search, setSearch] = useSearchParams();
  const zoom = useMemo(() => readZoom(search, metric, xLog), [search, metric, xLog]);
  const change = useCallback(
    (next: Zoom | null) => setSearch((current) => writeZoom(current, metric, next), { replace: true }),
    [setSearch, metric],
  );
  return [zoom, change];
}
