import { useCallback, useMemo, useState } from "react";
import { useSearchParams } from "react-router";
import { type CurveView, readView, readZoom, writeView, writeZoom, type Zoom } from "./curveView";

/** Return the view of the page's curves, stored in the URL. */
export function useCurveView(): [CurveView, (view: CurveView) => void] {
  const [search, setSearch] = useSearchParams();
  const address = search.toString();
  // The router updates the URL later. Until then, show the pending choice, so that switches do not jump back.
  const [chosen, setChosen] = useState<{ view: CurveView; leaving: string } | null>(null);
  // After a change of the URL, show the view in it.
  if (chosen && chosen.leaving !== address) setChosen(null);
  const read = useMemo(() => readView(search), [search]);
  const change = useCallback(
    (view: CurveView) => {
      setChosen({ view, leaving: address });
      setSearch((current) => writeView(current, view), { replace: true });
    },
    [address, setSearch],
  );
  return [chosen?.leaving === address ? chosen.view : read, change];
}

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
