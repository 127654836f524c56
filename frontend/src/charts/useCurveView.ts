import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { type CurveView, readView, writeView } from "./curveView";

/** The view of the page's curves, kept in its URL so that a link shows the same picture. */
export function useCurveView(): [CurveView, (view: CurveView) => void] {
  const [search, setSearch] = useSearchParams();
  const view = useMemo(() => readView(search), [search]);
  const change = useCallback(
    (next: CurveView) => setSearch((current) => writeView(current, next), { replace: true }),
    [setSearch],
  );
  return [view, change];
}
