import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { readZoom, writeZoom, type Zoom } from "./curveView";

/** Return the zoom that all charts of the page share, or all with the same axis. It is stored in the URL. */
export function useZoom(xLog: boolean, axis?: string): [Zoom | null, (zoom: Zoom | null) => void] {
  const [search, setSearch] = useSearchParams();
  const zoom = useMemo(() => readZoom(search, xLog, axis), [search, xLog, axis]);
  const change = useCallback(
    (next: Zoom | null) => setSearch((current) => writeZoom(current, next, axis), { replace: true }),
    [setSearch, axis],
  );
  return [zoom, change];
}
