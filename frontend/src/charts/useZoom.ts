import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { readZoom, writeZoom, type Zoom } from "./curveView";

/** Return the zoom that all charts of the page share. It is stored in the URL. */
export function useZoom(xLog: boolean): [Zoom | null, (zoom: Zoom | null) => void] {
  const [search, setSearch] = useSearchParams();
  const zoom = useMemo(() => readZoom(search, xLog), [search, xLog]);
  const change = useCallback(
    (next: Zoom | null) => setSearch((current) => writeZoom(current, next), { replace: true }),
    [setSearch],
  );
  return [zoom, change];
}
