/** Saved views of the runs page as queries of its URL. */

import type { SavedView } from "@/api/types";

/** URL parameter with the id or the name of the opened view. */
export const VIEW_PARAM = "view";
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
