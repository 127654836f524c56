import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useSearchParams } from "react-router";
import type { SavedView } from "@/api/types";
import { viewsQuery } from "@/api/views";

/** Return the saved views of the project and the opened one. A link with only a view's id or name shows the view. */
export function useSavedViews(project: string | null, defaults: Record<string, string>) {
  const [params, setParams] = useSearchParams();
  const { data: views } = useQuery(viewsQuery(project));
  const reference = params.get(VIEW_PARAM);
  const opened = reference === null ? undefined : findView(views ?? [], reference);
  const isLink = isViewLink(params);
  useEffect(() => {
    if (opened && isLink) setParams((now) => openedParams(opened, now), { replace: true });
  }, [opened, isLink, setParams]);

  const query = queryToSave(params, defaults);
  return {
    views: views ?? [],
    opened,
    /** The id or name in the URL, if there is no such view. */
    missing: views && reference !== null && !opened ? reference : null,
    query,
    isChanged:
      opened !== undefined && !isLink && queryToSave(new URLSearchParams(opened.query), defaults) !== query,
    open: (view: SavedView, options?: { replace: boolean }) =>
      setParams((now) => openedParams(view, now), options),
    /** Leave the opened view, and keep what it shows. */
    close: () =>
      setParams(
        (now) => {
          now.delete(VIEW_PARAM);
          return now;
        },
        { replace: true },
      ),
  };
}

export type SavedViews = ReturnType<typeof useSavedViews>;

/** URL parameter with the id or the name of the opened view. */
const VIEW_PARAM = "view";
/** Parameters that a view does not store. */
const NOT_SAVED = ["project", VIEW_PARAM, "zoom"];

/** Return the query that saves what the page shows. `defaults` has parameters that the URL may leave out. */
export function queryToSave(params: URLSearchParams, defaults: Record<string, string>): string {
  const saved = new URLSearchParams(params);
  for (const name of NOT_SAVED) saved.delete(name);
  for (const [name, value] of Object.entries(defaults)) if (!saved.has(name)) saved.set(name, value);
  saved.sort();
  return saved.toString();
}

/** Return the URL parameters that show a saved view. */
export function openedParams(view: SavedView, params: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(view.query);
  for (const name of NOT_SAVED) next.delete(name);
  const project = params.get("project");
  if (project !== null) next.set("project", project);
  next.set(VIEW_PARAM, String(view.id));
  return next;
}

/** Return true if the URL names only a view, without what it shows. */
export function isViewLink(params: URLSearchParams): boolean {
  return params.has(VIEW_PARAM) && [...params.keys()].every((name) => NOT_SAVED.includes(name));
}

/** Return the view with an id or a name. */
export function findView(views: readonly SavedView[], reference: string): SavedView | undefined {
  const name = reference.trim().toLowerCase();
  return (
    views.find((view) => String(view.id) === reference) ??
    views.find((view) => view.name.toLowerCase() === name)
  );
}
